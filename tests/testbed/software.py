"""Software as sites have it: Environment Modules and Lmod from Debian's packages, an image for containers.

The two module systems cannot be installed beside each other, and both write into /etc/profile.d: their
packages are unpacked into a folder instead.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import zipfile
from pathlib import Path

_IMAGE_PROGRAMS = ("/bin/dash", "/bin/cat", "/bin/ls")
_IMAGE_FOLDERS = (
    "dev",
    "proc",
    "sys",
    "tmp",
    "etc",
    "mnt",
    "home",
    "run",
    "root",
    "bin",
    "usr/bin",
    "var/tmp",
)
_MODULE = "#%Module\nsetenv {variable} {version}\nprepend-path PATH {folder}\n"


def unpacked(package: str, into: Path) -> Path:
    """A package of Debian, unpacked; its programs need what `packaging/components.sh` installs."""
    into.mkdir(parents=True)
    subprocess.run(["apt-get", "download", "-q", package], cwd=into, check=True, capture_output=True)
    (archive,) = into.glob("*.deb")
    subprocess.run(["dpkg-deb", "-x", archive, into], check=True)
    return into


def environment_modules(root: Path) -> dict[str, str]:
    """Variables by which jobs find Environment Modules that were unpacked into `root`."""
    return {"MODULES_CMD": str(root / "usr/lib/x86_64-linux-gnu/modulecmd.tcl")}


def lmod(root: Path) -> dict[str, str]:
    """Variables by which jobs find Lmod that was unpacked into `root`."""
    (folder,) = (one for one in root.glob("usr/share/lmod/*") if one.name[0].isdigit())
    return {
        "LMOD_PKG": str(folder),
        "LMOD_DIR": str(folder / "libexec"),
        "LMOD_CMD": str(folder / "libexec/lmod"),
    }


def write_module(folder: Path, name: str, programs: Path) -> None:
    """A module that sets the variable `demo` of its own name to its version, and adds a folder to PATH."""
    family, _, version = name.partition("/")
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(_MODULE.format(variable=family.upper(), version=version, folder=programs))


def module_system(package: str, folder: Path) -> dict[str, str]:
    """Variables by which jobs find one of the two with gcc/12, gcc/14 and demo/1; they bring `greet`."""
    root = unpacked(package, folder / "package")
    stand_in(folder / "bin", "greet", 'echo "gcc $GCC, demo $DEMO"')
    for name in ("gcc/12", "gcc/14", "demo/1"):
        write_module(folder / "files", name, folder / "bin")
    found = environment_modules(root) if package == "environment-modules" else lmod(root)
    return found | {"MODULEPATH": str(folder / "files")}


def image(folder: Path) -> Path:
    """A folder that is a container's image: a shell, two programs, and the libraries that they need."""
    for name in _IMAGE_FOLDERS:
        (folder / name).mkdir(parents=True)
    for name in ("passwd", "group", "hosts", "resolv.conf"):
        (folder / "etc" / name).touch()
    for program in _IMAGE_PROGRAMS:
        shutil.copy(program, folder / "bin")
        listed = subprocess.run(["ldd", program], capture_output=True, text=True, check=True).stdout
        for library in re.findall(r"/\S+", listed):
            place = folder / library.lstrip("/")
            place.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(os.path.realpath(library), place)
    (folder / "bin/dash").rename(folder / "bin/sh")
    return folder


def wheel(folder: Path, name: str, version: str) -> Path:
    """A Python package with one module that knows its version."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{name}-{version}-py3-none-any.whl"
    about = f"{name}-{version}.dist-info"
    contents = {
        f"{name}.py": f"version = {version!r}\n",
        f"{about}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n",
        f"{about}/WHEEL": "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    record = "".join(f"{one},,\n" for one in (*contents, f"{about}/RECORD"))
    with zipfile.ZipFile(path, "w") as archive:
        for one, text in (contents | {f"{about}/RECORD": record}).items():
            archive.writestr(one, text)
    return path


def stand_in(folder: Path, name: str, script: str) -> Path:
    """A program that stands in for one that cannot be had; returns its folder, for PATH."""
    folder.mkdir(parents=True, exist_ok=True)
    program = folder / name
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    return folder
