"""The sheet that confirms a submission: what is sent where, before anything is."""
