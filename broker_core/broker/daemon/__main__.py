"""`python -m broker_core.broker.daemon`."""

import sys

from broker_core.broker.daemon.daemon import main

sys.exit(main())
