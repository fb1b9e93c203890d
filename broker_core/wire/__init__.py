"""What crosses the socket: the models that the API, the client and the desktop share. Pure."""
