"""The Story tab: events, states and reasons of one job."""
