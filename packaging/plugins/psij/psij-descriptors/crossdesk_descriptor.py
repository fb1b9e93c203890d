"""Where PSI/J finds the executor `crossdesk`."""

from packaging.version import Version
from psij.descriptor import Descriptor

__PSI_J_EXECUTORS__ = [
    Descriptor(
        name="crossdesk",
        nice_name="CrossDesk",
        version=Version("0.1.0"),
        cls="crossdesk_psij.executor.CrossDeskExecutor",
    )
]
