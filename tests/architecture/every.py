"""All measures, in the order in which they are printed."""

from __future__ import annotations

from tests.architecture.class_names import CLASS_NAMES
from tests.architecture.collaborators import COLLABORATORS
from tests.architecture.cycles import RUN_TIME_CYCLES, TYPE_CYCLES
from tests.architecture.element_ids import ELEMENT_IDS
from tests.architecture.life_flags import LIFE_FLAGS
from tests.architecture.packages import PACKAGES
from tests.architecture.single_importers import SINGLE_IMPORTERS
from tests.architecture.sizes import LONG_FILES, LONG_FUNCTIONS
from tests.architecture.statement_order import STATEMENT_ORDER
from tests.architecture.strict_types import STRICT_TYPES
from tests.architecture.uncovered import UNCOVERED
from tests.architecture.words import BANNED_WORDS, BRITISH

MEASURES = (
    PACKAGES,
    CLASS_NAMES,
    BANNED_WORDS,
    BRITISH,
    ELEMENT_IDS,
    LIFE_FLAGS,
    COLLABORATORS,
    SINGLE_IMPORTERS,
    RUN_TIME_CYCLES,
    TYPE_CYCLES,
    LONG_FILES,
    LONG_FUNCTIONS,
    STATEMENT_ORDER,
    STRICT_TYPES,
    UNCOVERED,
)
