"""Application launching: staging, job directories, launch orders."""
