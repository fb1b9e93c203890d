#!/usr/bin/env python3
"""TensorBoard at a free port of the node, for who knows its path: it asks for no token of its own.

The desk hears of port and path from one line in the file that CROSSDESK_SERVICES names; they are in no log.
"""

import json
import os
import secrets
import sys
import threading
import urllib.parse

os.umask(0o077)
try:
    from tensorboard import program
except ImportError as error:
    sys.exit(f"There is no TensorBoard here ({error}): see PythonEnvironment or Modules.")

path = f"/{secrets.token_urlsafe(24)}/"
folder = sys.argv[1] if len(sys.argv) > 1 else "."
board = program.TensorBoard()
words = ["--logdir", folder, "--host", "127.0.0.1", "--port", "0", "--path_prefix", path.rstrip("/")]
board.configure(argv=["tensorboard", *words])
address = urllib.parse.urlsplit(board.launch())
with open(os.environ["CROSSDESK_SERVICES"], "a") as told:
    told.write(json.dumps({"name": "TensorBoard", "port": address.port, "path": path}) + "\n")
print("TensorBoard shows", os.path.abspath(folder), flush=True)
threading.Event().wait()
