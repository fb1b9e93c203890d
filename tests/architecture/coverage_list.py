"""Files of the pure packages of which the tests run every line and take every branch: a list that only grows.

`python -m tests.architecture.coverage_list` compares it with the coverage data of the last whole run of the
tests (`packaging/test.sh` makes both); `--record` adds the files that came.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections.abc import Iterable
from pathlib import Path

from coverage import Coverage
from coverage.exceptions import NoDataError

from tests.packaging.sources import ROOT

FILE = Path(__file__).with_name("full_coverage.txt")
PURE = ("jdl", "jobs", "reactor", "resources", "matching", "policies", "scheduling", "wire")
"""Packages of broker_core that hold decisions only: tests can bring about all that happens in them."""


def listed(file: Path = FILE) -> list[str]:
    """Paths in the list."""
    return file.read_text().split()


def is_pure(path: str) -> bool:
    """True for a file of the packages that the list is about."""
    return path.startswith(tuple(f"broker_core/{package}/" for package in PURE))


def full(data: Path, root: Path = ROOT) -> set[str]:
    """Files below `root` in the data, relative to it, without a line or branch that was left out.

    Raises NoDataError without data.
    """
    coverage = Coverage(data_file=data, config_file=str(ROOT / "pyproject.toml"), source=[str(root)])
    coverage.load()
    with tempfile.NamedTemporaryFile(suffix=".json") as out:
        coverage.json_report(outfile=out.name)
        files = json.loads(Path(out.name).read_text())["files"]
    return {
        Path(name).resolve().relative_to(root).as_posix()
        for name, file in files.items()
        if not file["missing_lines"] and not file.get("missing_branches")
    }


def record(files: Iterable[str], file: Path = FILE) -> None:
    """Add files to the list."""
    file.write_text("".join(f"{path}\n" for path in sorted({*listed(file), *files})))


def main() -> int:
    """Run the command; 1 if a file of the list is not covered as it was."""
    parser = argparse.ArgumentParser(prog="python -m tests.architecture.coverage_list", description=__doc__)
    parser.add_argument("--record", action="store_true", help="add the files that are covered in full now")
    record_it = parser.parse_args().record
    try:
        covered = full(ROOT / ".coverage")
    except NoDataError:
        print("There is no coverage data: run `sh packaging/test.sh` first.")
        return 1
    lost = [path for path in listed() if path not in covered]
    came = sorted(path for path in covered if is_pure(path) and path not in listed())
    print("".join(f"{path} is not covered in full any more\n" for path in lost), end="")
    print(
        f"{len(listed()) - len(lost)} files of the list are covered in full, {len(came)} more could be in it."
    )
    if record_it:
        record(came)
    elif came:
        print("`python -m tests.architecture.coverage_list --record` adds them.")
    return 1 if lost else 0


if __name__ == "__main__":
    raise SystemExit(main())
