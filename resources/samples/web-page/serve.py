#!/usr/bin/env python3
"""The files of the job, as a web server at the node shows them to who has its token.

Any program can be seen so: take a free port of 127.0.0.1, and append one line of JSON to the file that
CROSSDESK_SERVICES names. Nothing else is needed.
"""

import http.server
import json
import os
import secrets
import urllib.parse

TOKEN = secrets.token_urlsafe(24)


class Page(http.server.SimpleHTTPRequestHandler):
    """Shows the files of the folder where it was started, hidden ones left out."""

    def do_GET(self) -> None:
        """Who comes with the token gets a cookie, and then the files."""
        asked = urllib.parse.urlsplit(self.path)
        given = urllib.parse.parse_qs(asked.query).get("token", [""])[0]
        if secrets.compare_digest(given.encode(), TOKEN.encode()):
            self.send_response(303)
            self.send_header("Set-Cookie", f"token={TOKEN}; HttpOnly; SameSite=Strict; Path=/")
            self.send_header("Location", urllib.parse.quote(urllib.parse.unquote(asked.path)))
            self.end_headers()
        elif f"token={TOKEN}" not in self.headers.get("Cookie", "").split("; ") or "/." in asked.path:
            self.send_error(403, "Only with the token")
        else:
            super().do_GET()

    def do_HEAD(self) -> None:
        """Not offered: it would ask for no token."""
        self.send_error(405)

    def log_message(self, format: str, *words: object) -> None:
        """Say what was asked for, without the token."""
        print(self.command, self.path.partition("?")[0], flush=True)


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Page)
with open(os.environ["CROSSDESK_SERVICES"], "a") as told:
    told.write(json.dumps({"name": "Files of the job", "port": server.server_port, "token": TOKEN}) + "\n")
server.serve_forever()
