"""The CrossDesk desktop: a Qt window over the broker's client."""
