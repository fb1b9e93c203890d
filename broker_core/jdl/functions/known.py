"""All functions of the language by lower-case name."""

from __future__ import annotations

from broker_core.jdl.functions import (
    control as functions_control,
)
from broker_core.jdl.functions import (
    environment as functions_environment,
)
from broker_core.jdl.functions import (
    expressions as functions_expressions,
)
from broker_core.jdl.functions import (
    lists as functions_lists,
)
from broker_core.jdl.functions import (
    numbers as functions_numbers,
)
from broker_core.jdl.functions import (
    regexp as functions_regexp,
)
from broker_core.jdl.functions import (
    storage as functions_storage,
)
from broker_core.jdl.functions import (
    string_lists as functions_string_lists,
)
from broker_core.jdl.functions import (
    strings as functions_strings,
)
from broker_core.jdl.functions import (
    time as functions_time,
)
from broker_core.jdl.functions import (
    types as functions_types,
)
from broker_core.jdl.functions import (
    versions as functions_versions,
)
from broker_core.jdl.functions.function import Function

FUNCTIONS: dict[str, Function] = {
    **functions_control.TABLE,
    **functions_environment.TABLE,
    **functions_expressions.TABLE,
    **functions_lists.TABLE,
    **functions_numbers.TABLE,
    **functions_regexp.TABLE,
    **functions_storage.TABLE,
    **functions_string_lists.TABLE,
    **functions_strings.TABLE,
    **functions_time.TABLE,
    **functions_types.TABLE,
    **functions_versions.TABLE,
}
