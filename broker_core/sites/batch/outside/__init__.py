"""Jobs of an account that were submitted outside CrossDesk: how each batch system tells of them."""
