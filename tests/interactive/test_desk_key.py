"""The key of a desk that has no keyring: made once, whoever needs it first."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from pathlib import Path

MAKE = """
import sys
from broker_core.interactive.shadow.desk_key import desk_key
print("ready", flush=True)
sys.stdin.readline()
print(desk_key().public)
"""


def test_programs_that_need_it_first_at_the_same_time_have_the_same_key(tmp_path: Path) -> None:
    environment = os.environ | {
        "XDG_DATA_HOME": str(tmp_path),
        "PYTHON_KEYRING_BACKEND": "keyring.backends.fail.Keyring",
    }
    makers = [
        subprocess.Popen(
            [sys.executable, "-c", MAKE],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=environment,
        )
        for _ in range(6)
    ]
    for maker in makers:
        assert maker.stdout is not None
        assert maker.stdout.readline() == "ready\n"
    for maker in makers:
        assert maker.stdin is not None
        maker.stdin.write("\n")
        maker.stdin.flush()
    told = [maker.communicate(timeout=120) for maker in makers]
    assert len({out for out, _ in told}) == 1, [err[-200:] for _, err in told]
    assert told[0][0].startswith("ssh-ed25519 ")
    kept = tmp_path / "crossdesk" / "desk_key"
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600
    assert os.listdir(kept.parent) == ["desk_key"]
