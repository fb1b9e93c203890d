"""Icons, themes, samples and help, installed as `crossdesk_resources`."""
