"""Fuzz target: any bytes as a description, checked, written back, edited and evaluated (reliability case 16).

Run with `python -m tests.jdl.fuzz_check RUNS SEED FOLDER`; FOLDER has texts to begin with and takes new ones.
It ends with an error if an input raises, takes much longer than 10 ms per KB, or more memory than
`MEMORY_MAX`; that input is then in the file FOLDER/crash-...
"""

from __future__ import annotations

import resource
import sys
import time

import atheris

with atheris.instrument_imports(include=["broker_core.jdl"]):
    from broker_core.jdl.check import check
    from broker_core.jdl.evaluation.evaluate import evaluate
    from broker_core.jdl.syntax.edit import set_attribute
    from broker_core.jdl.syntax.parse import parse, parse_expression
    from broker_core.jdl.syntax.write import expression, write

SECONDS_A_KB = 0.010
GRACE = 0.25
"""Seconds that any input may take: the clock of a shared machine, and instrumented code."""
SLOWER = 6
"""How many times slower instrumented code runs, at most."""
MEMORY_MAX = 1 << 30


def one(data: bytes) -> None:
    """Whatever the text: an answer in time, and what was read can be written, read again and edited."""
    text = data.decode("utf-8", "surrogateescape")
    begin = time.process_time()
    _use(text)
    spent = time.process_time() - begin
    allowed = GRACE + SLOWER * SECONDS_A_KB * len(text) / 1024
    assert spent <= allowed, f"{spent:.3f} s for {len(text)} characters"


def _use(text: str) -> None:
    checked = check(text, parameter="7")
    assert (checked.description is None) == bool(checked.errors)
    ad = parse(text).ad
    if ad is not None:
        if not any(item.severity == "error" for item in parse(text).diagnostics):
            assert parse(write(ad)).ad == ad
        set_attribute(text, "Executable", '"/bin/true"')
    tree, _ = parse_expression(text)
    if tree is not None:
        expression(tree)
        evaluate(tree, ad, {"gluecestatefreecpus": 4}, steps=5000)


def main() -> None:
    """Fuzz so many times from a seed."""
    runs, seed, folder = sys.argv[1:]
    resource.setrlimit(resource.RLIMIT_AS, (4 * MEMORY_MAX, 4 * MEMORY_MAX))
    options = [f"-runs={runs}", f"-seed={seed}", "-max_len=4096", "-timeout=20"]
    options += [f"-rss_limit_mb={MEMORY_MAX >> 20}", "-print_final_stats=1"]
    options += [f"-artifact_prefix={folder}/", folder]
    atheris.Setup([sys.argv[0], *options], one)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
