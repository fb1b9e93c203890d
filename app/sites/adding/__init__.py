"""The sheet that adds a site, step by step."""
