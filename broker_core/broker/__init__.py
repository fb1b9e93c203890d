"""The engine: runs effects, HTTP API, authentication, daemon life."""
