"""The resources view: what is known of each computing element, and by whom."""
