"""Scripts that a node needs for some jobs only: plain agent, software, and samples of what a job uses."""
