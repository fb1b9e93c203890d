"""The terminal on the screen: painting, pointer, shortcuts and menu."""
