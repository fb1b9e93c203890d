"""The store's SQL: connection, schema, rows, writes and reads."""
