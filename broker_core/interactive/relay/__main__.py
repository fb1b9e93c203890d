"""`python -m broker_core.interactive.relay`."""

import sys

from broker_core.interactive.relay.relay import main

sys.exit(main())
