"""The console: a terminal that programs believe in, and the line mode of the bypass agent (CB-UI-07)."""
