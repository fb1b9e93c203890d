"""Former home of the relay, for services that were installed before it moved; goes with the next release."""
