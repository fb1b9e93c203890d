"""The CrossDesk broker: everything that is not a window. Imports no Qt."""
