"""Each measure finds what it counts, in sources written for it, and nothing else."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

from tests.architecture.class_names import shared_names
from tests.architecture.collaborators import crowded_constructors
from tests.architecture.cycles import run_time_cycles, type_cycles
from tests.architecture.element_ids import ids_as_text
from tests.architecture.life_flags import life_flags
from tests.architecture.modules import Module, parse
from tests.architecture.single_importers import single_importers
from tests.architecture.sizes import long_functions
from tests.architecture.statement_order import misplaced_statements
from tests.architecture.words import banned_words, british_spellings


def _module(text: str, path: str = "app/one.py") -> Module:
    return parse(Path(path), dedent(text))


def test_a_class_name_of_two_files_is_shared_and_a_private_one_is_not() -> None:
    one = _module("class Job: ...\nclass _Row: ...\nclass Site: ...")
    two = _module("class Job: ...\nclass _Row: ...\ndef make():\n    class Site: ...", "app/two.py")
    assert shared_names([one, two]) == ["Job: app/one.py:1 app/two.py:1"]


def test_banned_words_are_found_in_every_kind_of_name_and_only_as_whole_words() -> None:
    text = """
    from far import told, said as heard
    class SitePlace:
        kept: int
        def __init__(self, look): self.queue_place = look
    def replace(placeholder, lookup, placement, everything):
        for thing in everything: told(thing)
    """
    found = [line.split()[1] for line in banned_words([_module(text)])]
    assert sorted(found) == sorted(
        [
            "heard",
            "SitePlace",
            "SitePlace.kept",
            "SitePlace.__init__.look",
            "SitePlace.queue_place",
            "replace.thing",
        ]
    )


def test_fields_on_the_wire_and_the_location_of_an_error_may_have_their_words() -> None:
    text = "class ErrorView:\n    place: str\nclass Other:\n    place: str"
    assert banned_words([_module(text)]) == ["app/one.py:4 Other.place"]


def test_a_module_with_a_banned_word_in_its_name_is_found() -> None:
    assert banned_words([_module("", "app/site_places.py")]) == ["app/site_places.py site_places"]


def test_british_spellings_are_told_from_words_that_both_spell_alike() -> None:
    found = british_spellings([_module("cancelled = colour = organise = 1\npromise = otherwise = size = 1")])
    assert [line.split()[1] for line in found] == ["cancelled", "colour", "organise"]


def test_ids_of_elements_that_are_joined_or_split_are_found() -> None:
    text = """
    a = ", ".join(job.ces)
    b = ", ".join(sorted(ces)[:3])
    c = ce.partition(":")[0]
    d = one.ce.startswith("localhost:")
    e = ", ".join(names)
    f = text.partition(":")
    """
    assert sorted(line.split()[0] for line in ids_as_text([_module(text)])) == [
        f"app/one.py:{n}" for n in (2, 3, 4, 5)
    ]


def test_two_booleans_that_change_are_flags_of_a_life_and_one_is_not() -> None:
    text = """
    class Two:
        def __init__(self): self.sent, self.asked = 0, 0; self.open = False; self.over: bool = False
        def go(self): self.open = True; self.over = True
    class One:
        busy: bool = False
        quiet: bool = False
        def go(self): self.busy = True
    """
    assert [line.split()[1] for line in life_flags([_module(text)])] == ["Two.open", "Two.over"]


def test_collaborators_are_callables_and_what_acts_and_bags_of_such_but_not_data() -> None:
    types = """
    from collections.abc import Callable
    from dataclasses import dataclass
    Report = Callable[[str], None]
    class Engine:
        def run(self): ...
    class Own(Engine): ...
    @dataclass(frozen=True)
    class Point:
        x: int
        def far(self): return self.x
    @dataclass
    class Bag:
        engine: Engine
    """
    users = """
    from app.types import Bag, Engine, Own, Point, Report
    class Crowded:
        def __init__(self, a: Engine, b: Own | None, c: Report, d: "Bag", e: list[Engine]): ...
    class Fine:
        def __init__(self, a: Engine, b: Own, c: Report, d: Bag, e: Point, f: str, g: int): ...
    """
    found = crowded_constructors([_module(types, "app/types.py"), _module(users)])
    assert found == ["app/one.py:3 Crowded: 5: a, b, c, d, e"]


def test_imports_in_functions_make_cycles_at_run_time_and_those_for_types_do_not() -> None:
    one = _module("def go():\n    from app import two")
    two = _module("from app.one import go\nfrom typing import TYPE_CHECKING\n", "app/two.py")
    three = _module("import app.four", "app/three.py")
    four = _module(
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from app.three import x", "app/four.py"
    )
    assert run_time_cycles([one, two, three, four]) == ["app.one app.two"]
    assert type_cycles([one, two, three, four]) == ["app.four app.three", "app.one app.two"]


def test_modules_with_one_importer_are_counted_with_imports_for_types() -> None:
    one = _module("from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from app.two import x")
    two, three = _module("from app.three import x", "app/two.py"), _module("", "app/three.py")
    assert single_importers([one, two, three]) == ["app.two <- app.one", "app.three <- app.two"]


def test_a_function_is_as_long_as_its_body_without_signature_and_docstring() -> None:
    body = "    pass\n"
    text = (
        'def fine(\n    a,\n    b,\n):\n    """Says\n    what."""\n' + 40 * body + "def long():\n" + 41 * body
    )
    assert long_functions([parse(Path("app/one.py"), text)]) == ["app/one.py:47 long has 41 lines"]


def test_constants_stand_above_code_and_the_start_of_a_program_below_it() -> None:
    text = """
    FIRST = 1
    def go(): ...
    TABLE = {"go": go}
    names: list[str] = list(TABLE)
    LATE: int = 2
    if __name__ == "__main__":
        go()
    """
    start = "app/one.py:7 starts the program before the file ends"
    late = "app/one.py:6 is a constant below the first function or class"
    assert misplaced_statements([_module(text)]) == [late]
    assert misplaced_statements([_module(text + "class More: ...")]) == [late, start]
