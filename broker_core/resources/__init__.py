"""Resource records, GLUE names and the cache. Pure."""
