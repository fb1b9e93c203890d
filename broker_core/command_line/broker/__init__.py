"""`crossdesk broker`: the background process itself."""
