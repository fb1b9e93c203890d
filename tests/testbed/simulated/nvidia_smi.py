"""A stand-in for NVIDIA's `nvidia-smi`, which needs hardware that cannot be had here."""

from __future__ import annotations

from pathlib import Path

_PROGRAM = """\
#!/bin/sh
echo "$*" >>'{folder}/asked'
case $* in
*--query-compute-apps=gpu_uuid*) cat '{folder}/used' ;;
*--query-gpu=uuid,name*) cat '{folder}/gpus' ;;
*--query-gpu=utilization.gpu,memory.used*) cat '{folder}/figures' ;;
*) echo "ERROR: not an option: $*" >&2; exit 2 ;;
esac
"""


def nvidia_smi(folder: Path, *gpus: str, used: str = "", figures: str = "") -> Path:
    """The folder for PATH with a program that tells of `gpus` (`ID, MODEL` each), and of one that is `used`.

    `figures` are per cent and MB of those that a job has.
    """
    folder.mkdir(parents=True, exist_ok=True)
    for name, lines in (("gpus", "\n".join(gpus)), ("used", used), ("figures", figures)):
        (folder / name).write_text(f"{lines}\n" if lines else "")
    program = folder / "nvidia-smi"
    program.write_text(_PROGRAM.format(folder=folder))
    program.chmod(0o755)
    return folder
