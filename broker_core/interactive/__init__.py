"""Interactive jobs between desk and agent: the channel, its relay, a desk's end, the broker's share."""
