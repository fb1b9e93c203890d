"""The updater that asks information systems over LDAP."""
