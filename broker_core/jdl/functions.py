"""All functions of the language by lower-case name."""

from __future__ import annotations

from broker_core.jdl import (
    functions_control,
    functions_environment,
    functions_expressions,
    functions_lists,
    functions_numbers,
    functions_regexp,
    functions_storage,
    functions_string_lists,
    functions_strings,
    functions_time,
    functions_types,
    functions_versions,
)
from broker_core.jdl.function import Function

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
