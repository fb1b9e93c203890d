"""How many GPUs are free, in words."""

from __future__ import annotations

import pytest

from broker_core.wire.resources import GpuCount, gpu_words


@pytest.mark.parametrize(
    ("gpus", "words"),
    [
        ([], ""),
        ([("a100", 0, 0)], ""),
        ([("", 1, 1)], "1 of 1 GPU free"),
        ([("a100", 4, 1)], "1 of 4 a100 GPUs free"),
        ([("a100", 48, 9), ("v100", 16, 3)], "12 of 64 GPUs free (9 of 48 a100, 3 of 16 v100)"),
        ([("", 2, 1), ("", 2, 2)], "3 of 4 GPUs free"),
    ],
)
def test_models_are_named_where_the_site_names_them(gpus: list[tuple[str, int, int]], words: str) -> None:
    counts = [GpuCount(model=model, total=total, free=free) for model, total, free in gpus]
    assert gpu_words(counts) == words
