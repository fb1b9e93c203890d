"""The value of an expression: exact, three-valued, bounded in steps and depth."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from broker_core.jdl.evaluation import operators
from broker_core.jdl.evaluation.environment import NOWHERE, EvaluationEnvironment
from broker_core.jdl.evaluation.values import AdValue, Value, as_expression
from broker_core.jdl.functions.known import FUNCTIONS
from broker_core.jdl.functions.storage import storage
from broker_core.jdl.limits import LIST_MAX
from broker_core.jdl.syntax.tree import (
    ERROR,
    UNDEFINED,
    Ad,
    Binary,
    Call,
    Conditional,
    Expression,
    ListOf,
    Literal,
    Reference,
    Subscript,
    Unary,
)

STEPS_MAX = 100_000
"""Nodes of the tree that one evaluation may visit."""
LEVELS_MAX = 150
"""Nodes within nodes, and attributes that refer to attributes."""


class LimitReached(Exception):
    """The expression costs more than it may; its value is `error`."""


@dataclass(slots=True)
class EvaluationFrame:
    """An ad whose names can be read, and the ad around it."""

    ad: Ad
    outer: EvaluationFrame | None = None


def evaluate(
    expression: Expression,
    own: Ad | None = None,
    other: Mapping[str, Value] | None = None,
    *,
    now: float | None = None,
    surroundings: EvaluationEnvironment = NOWHERE,
    steps: int = STEPS_MAX,
) -> Value:
    """The value of `expression`; never raises.

    `own` is the ad whose names stand bare; `other` the resource's values by lower-case name, read through
    `other.` (CB-JDL-02). `now` is what `time()` gives, in seconds since the epoch; without it: `error`.
    `surroundings` has chance and users.
    """
    evaluation = Evaluation(own, other, now, steps, surroundings)
    try:
        return evaluation.value(expression, evaluation.top)
    except LimitReached:
        return ERROR


class Evaluation:
    """One evaluation, with what it has used up."""

    def __init__(
        self,
        own: Ad | None,
        other: Mapping[str, Value] | None,
        now: float | None,
        steps: int = STEPS_MAX,
        surroundings: EvaluationEnvironment = NOWHERE,
    ) -> None:
        self.top = EvaluationFrame(own if own is not None else Ad())
        self.other = other
        self.now = now
        self.surroundings = surroundings
        self.target: AdValue | None = None
        """What `target.` reads instead of the resource, within anyMatch and its kin."""
        self.steps = steps
        self.levels = 0
        self.entered: set[int] = set()

    def value(self, node: Expression, frame: EvaluationFrame) -> Value:
        """The value of a node whose names are looked up in `frame`."""
        if type(node) is Literal:
            return node.value
        self.steps -= 1
        self.levels += 1
        if self.steps < 0 or self.levels > LEVELS_MAX:
            raise LimitReached
        result = _KINDS[type(node)](self, node, frame)
        self.levels -= 1
        return result

    def _reference(self, node: Reference, frame: EvaluationFrame) -> Value:
        name = node.name.lower()
        if node.scope is not None:
            return self._scoped(node.scope, name, frame)
        around: EvaluationFrame | None = self.top if node.absolute else frame
        while around is not None:
            if name in around.ad.entries:
                return self._entry(name, around)
            around = around.outer
        return AdValue(self.top.ad, self.top) if name in ("self", "my") else UNDEFINED

    def _scoped(self, scope: Expression, name: str, frame: EvaluationFrame) -> Value:
        if type(scope) is Reference and scope.scope is None:
            word = scope.name.lower()
            if word in ("other", "target") and word not in frame.ad.entries:
                return self._of_the_other(word, name)
            if word == "parent" and frame.outer is not None:
                return self._in(frame.outer, name)
        base = self.value(scope, frame)
        if isinstance(base, AdValue):
            return self._in(base.frame, name)
        if isinstance(base, list):
            return [self._item(one, name) for one in base]
        return base if base is UNDEFINED else ERROR

    def _item(self, one: Value, name: str) -> Value:
        if isinstance(one, AdValue):
            return self._in(one.frame, name)
        return one if one is UNDEFINED else ERROR

    def _of_the_other(self, word: str, name: str) -> Value:
        if word == "target" and self.target is not None:
            return self._in(self.target.frame, name)
        if self.other is None:
            return UNDEFINED
        if (found := self.other.get(name)) is not None:
            return self.adopted(as_expression(found)) if isinstance(found, Mapping) else found
        return storage(self) if name == "storage" else UNDEFINED

    def adopted(self, node: Expression) -> Value:
        """The value of a tree that was made of values and stands nowhere in a description."""
        return self.value(node, EvaluationFrame(Ad()))

    def _in(self, frame: EvaluationFrame, name: str) -> Value:
        return self._entry(name, frame) if name in frame.ad.entries else UNDEFINED

    def _entry(self, name: str, frame: EvaluationFrame) -> Value:
        entry = frame.ad.entries[name]
        if id(entry) in self.entered:
            return ERROR
        self.entered.add(id(entry))
        result = self.value(entry.value, frame)
        self.entered.discard(id(entry))
        return result

    def _unary(self, node: Unary, frame: EvaluationFrame) -> Value:
        return operators.unary(node.operator, self.value(node.operand, frame))

    def _binary(self, node: Binary, frame: EvaluationFrame) -> Value:
        """Long chains lean to the left: they are followed in a loop, so that their length costs no depth."""
        spine = [node]
        while type(spine[-1].left) is Binary:
            spine.append(spine[-1].left)
        result = self.value(spine[-1].left, frame)
        for one in reversed(spine):
            self.steps -= 1
            result = self._combined(one, result, frame)
        return result

    def _combined(self, node: Binary, left: Value, frame: EvaluationFrame) -> Value:
        if node.operator == "&&":
            return operators.both(left, lambda: self.value(node.right, frame))
        if node.operator == "||":
            return operators.either(left, lambda: self.value(node.right, frame))
        return operators.binary(node.operator, left, self.value(node.right, frame))

    def _conditional(self, node: Conditional, frame: EvaluationFrame) -> Value:
        test = self.value(node.test, frame)
        if node.yes is None:
            return self.value(node.no, frame) if test is UNDEFINED else test
        held = operators.truth(test)
        if held is True:
            return self.value(node.yes, frame)
        return self.value(node.no, frame) if held is False else held

    def _call(self, node: Call, frame: EvaluationFrame) -> Value:
        function = FUNCTIONS.get(node.function.lower())
        if function is None or not function.least <= len(node.arguments) <= function.most:
            return ERROR
        return function.call(self, [partial(self.value, one, frame) for one in node.arguments])

    def _subscript(self, node: Subscript, frame: EvaluationFrame) -> Value:
        base = self.value(node.base, frame)
        index = self.value(node.index, frame)
        if isinstance(base, list) and type(index) is int:
            return base[index] if 0 <= index < len(base) else ERROR
        if isinstance(base, AdValue) and isinstance(index, str):
            return self._in(base.frame, index.lower())
        return UNDEFINED if UNDEFINED in (base, index) and ERROR not in (base, index) else ERROR

    def _list(self, node: ListOf, frame: EvaluationFrame) -> Value:
        if len(node.items) > LIST_MAX:
            raise LimitReached
        return [self.value(item, frame) for item in node.items]

    def _ad(self, node: Ad, frame: EvaluationFrame) -> Value:
        return AdValue(node, EvaluationFrame(node, frame))


_KINDS: dict[type, Callable[[Any, Any, EvaluationFrame], Value]] = {
    Reference: Evaluation._reference,
    Unary: Evaluation._unary,
    Binary: Evaluation._binary,
    Conditional: Evaluation._conditional,
    Call: Evaluation._call,
    Subscript: Evaluation._subscript,
    ListOf: Evaluation._list,
    Ad: Evaluation._ad,
}
