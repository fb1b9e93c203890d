"""Orders in which sites are tried. Pure."""
