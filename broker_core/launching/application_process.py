"""The process of a launcher of one's own: one for each attempt, which outlives the broker (CB-AL-06).

    python -m broker_core.launching.application_process FOLDER

The launcher is a copy in the folder, whose signature the broker has checked. SIGUSR1: look whether the
components are released.
"""

from __future__ import annotations

import asyncio
import json
import re
import signal
import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

from broker_core.launching.application_launcher import ApplicationLauncher
from broker_core.launching.launcher_folder import LauncherFolder

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*", re.ASCII)


def loaded(path: Path) -> type[ApplicationLauncher]:
    """The class `Launcher` of a file; raises TypeError if it has none, and whatever the file raises."""
    spec = spec_from_file_location("application_launcher", path)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    found = getattr(module, "Launcher", None)
    if not isinstance(found, type) or not issubclass(found, ApplicationLauncher):
        raise TypeError("The file has no class Launcher that inherits from ApplicationLauncher.")
    return found


async def _run(folder: LauncherFolder) -> int:
    settings = folder.settings()
    cpus = [sum(chunks) for chunks in settings.chunks]
    made = loaded(folder.application)(cpus, settings.address, folder.gathered)

    def check_release() -> None:
        if folder.release.exists():
            made.released.set()

    asyncio.get_running_loop().add_signal_handler(signal.SIGUSR1, check_release)
    folder.tell_proxies([_checked(one) for one in await made.submit()])
    check_release()
    await made.synchronize()
    return await made.monitor()


def _checked(variables: dict[str, str]) -> str:
    for name, value in variables.items():
        if not _NAME.fullmatch(name) or not isinstance(value, str) or "\0" in value:
            raise ValueError(f"{name!r} is no variable that a component can have.")
    return json.dumps(variables)


def main(path: str) -> None:
    """Run the launcher of a folder."""
    folder = LauncherFolder(Path(path))
    folder.identify()
    folder.tell_end(asyncio.run(_run(folder)))


if __name__ == "__main__":
    main(sys.argv[1])
