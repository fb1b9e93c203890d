"""Ways to a site's login node: this machine, and SSH."""
