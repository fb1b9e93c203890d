"""What can be typed next in a description: context, candidates and the popup."""
