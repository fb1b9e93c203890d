"""Two-step commit of jobs with several components (CB-AL-08): decisions."""
