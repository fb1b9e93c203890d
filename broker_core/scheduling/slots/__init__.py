"""Glideins, their virtual slots, claims and leases: who may run where on a machine that the broker holds."""
