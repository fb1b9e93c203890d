"""`python -m broker_core.interactive.relay`, as services of version 0.1.0 call the relay."""

import sys

from broker_core.relay.relay import main

if __name__ == "__main__":
    sys.exit(main())
