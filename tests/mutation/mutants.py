"""Small wrong changes of a module, one at a time.

What is changed: comparisons, ``and`` and ``or``, conditions, ``not`` and ``-``, arithmetic and set operators, numbers,
``True`` and ``False``, strings that are compared, ``min`` and ``max``, ``any`` and ``all``, what a query filters by and
writes, and statements that are left out: calls (a guard, a lock, a log of what was done), ``raise``, ``continue``,
``break``, writes to attributes and items.

What is not: annotations, decorators, docstrings, texts, what is logged.
"""

from __future__ import annotations

import ast
import copy
import hashlib
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import CodeType
from typing import Final

COMPARISONS: Final[dict[type[ast.cmpop], tuple[type[ast.cmpop], ...]]] = {
    ast.Lt: (ast.LtE, ast.GtE),
    ast.LtE: (ast.Lt, ast.Gt),
    ast.Gt: (ast.GtE, ast.LtE),
    ast.GtE: (ast.Gt, ast.Lt),
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
    ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,),
}
OPERATORS: Final[dict[type[ast.operator], type[ast.operator]]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.Mult,
    ast.Pow: ast.Mult,
    ast.BitOr: ast.BitAnd,
    ast.BitAnd: ast.BitOr,
}
NAMES: Final = {"min": "max", "max": "min", "any": "all", "all": "any"}
METHODS: Final = {"filter": "exclude", "exclude": "filter", "first": "last"}
PICKING: Final = {"filter", "exclude", "get", "Q", "update", "sorted", "min", "max"}  # one argument may be left out
DROPPED: Final = {"order_by", "distinct"}  # the whole call may be left out
SAFEGUARDS: Final = {"strict", "batch_size", "fail_silently"}  # arguments that decide no result
UNTOUCHED: Final = {"annotation", "returns", "decorator_list", "type_params"}


@dataclass(frozen=True, slots=True)
class Mutant:
    """A changed line. ``function``: the outermost one around it, if any. ``lines``: those of the changed statement."""

    number: int
    line: str
    change: str
    function: str
    lines: range

    @property
    def name(self) -> str:
        """What it is called wherever its line stands."""
        return f"{self.line}  [{self.change}]"

    def __str__(self) -> str:
        return f"{self.number}: {self.name}"


class Source:
    """A module's source, its mutants and its digest."""

    def __init__(self, path: Path) -> None:
        self.path = path
        text = path.read_text(encoding="utf-8")
        self._lines = text.splitlines()
        self._tree = ast.parse(text)
        self.digest = digest(self._tree)
        self._seen: Counter[tuple[str, str]] = Counter()
        self._swaps: dict[Mutant, Callable[[bool], None]] = {}
        self._walk(self._tree, "", "", range(0))
        self.original = self._compiled()

    @property
    def mutants(self) -> list[Mutant]:
        return list(self._swaps)

    def mutated(self, mutant: Mutant) -> CodeType:
        """The module with this one change."""
        self._swaps[mutant](True)
        try:
            return self._compiled()
        finally:
            self._swaps[mutant](False)

    def _compiled(self) -> CodeType:
        return compile(ast.fix_missing_locations(self._tree), str(self.path), "exec")

    def _walk(self, node: ast.AST, scope: str, function: str, lines: range) -> None:
        """Note the mutants below ``node``, which is ``scope`` itself or within it."""
        for field, value in ast.iter_fields(node):
            if field in UNTOUCHED:
                continue
            body_of = function or (scope if isinstance(node, ast.FunctionDef) and field == "body" else "")
            for position, child in enumerate(value if isinstance(value, list) else [value]):
                if not isinstance(child, ast.AST) or _is_only_said(child):
                    continue
                own_lines = _lines_of(child) if isinstance(child, ast.stmt) else lines
                for new, change in _alternatives(child, node, field):
                    self._note(child, new, change, body_of, own_lines, _swap(node, field, position, child, new))
                names = isinstance(child, ast.FunctionDef | ast.ClassDef)
                self._walk(child, f"{scope}.{child.name}".lstrip(".") if names else scope, body_of, own_lines)

    def _note(
        self, node: ast.AST, new: ast.AST, change: str, function: str, lines: range, swap: Callable[[bool], None]
    ) -> None:
        line = self._lines[node.lineno - 1].partition("  # ")[0].strip()
        self._seen[line, change] += 1
        again = self._seen[line, change]
        self._swaps[Mutant(node.lineno, line, change if again == 1 else f"{change} ({again})", function, lines)] = swap


def digest(tree: ast.Module) -> str:
    """Eight hexadecimal digits of a module as it runs: comments, docstrings and the breaks of lines are not in them."""
    bare = _WithoutDocstrings().visit(copy.deepcopy(tree))
    return hashlib.sha256(ast.dump(bare).encode()).hexdigest()[:8]


class _WithoutDocstrings(ast.NodeTransformer):
    def visit_Expr(self, node: ast.Expr) -> ast.Expr | None:
        return None if isinstance(node.value, ast.Constant) else node


def _swap(parent: ast.AST, field: str, position: int, node: ast.AST, new: ast.AST) -> Callable[[bool], None]:
    """A function that puts ``new`` in the place of ``node``, or ``node`` back."""
    ast.copy_location(new, node)
    value = getattr(parent, field)
    if isinstance(value, list):
        return lambda changed: value.__setitem__(position, new if changed else node)
    return lambda changed: setattr(parent, field, new if changed else node)


def _alternatives(node: ast.AST, parent: ast.AST, field: str) -> Iterator[tuple[ast.AST, str]]:
    """What may stand in the place of ``node``, and how that is called."""
    if isinstance(node, ast.stmt):
        yield from _other_statements(node)
    elif isinstance(node, ast.Compare):
        yield from _other_comparisons(node)
    elif isinstance(node, ast.BoolOp):
        is_and = isinstance(node.op, ast.And)
        yield ast.BoolOp(ast.Or() if is_and else ast.And(), node.values), "and → or" if is_and else "or → and"
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not | ast.USub):
        yield node.operand, "without not" if isinstance(node.op, ast.Not) else "without -"
    elif isinstance(node, ast.BinOp) and type(node.op) in OPERATORS and not _is_type(node):
        new = ast.BinOp(node.left, OPERATORS[type(node.op)](), node.right)
        yield new, f"{_sign(node.op)} → {_sign(new.op)}"
    elif isinstance(node, ast.Constant) and isinstance(node.value, bool | int | float):
        value = not node.value if isinstance(node.value, bool) else node.value + 1
        yield ast.Constant(value), f"{node.value} → {value}"
    elif isinstance(node, ast.Call):
        yield from _other_calls(node)
    is_condition = (field == "test" and not isinstance(parent, ast.Assert)) or field == "ifs"
    if is_condition and isinstance(node, ast.Name | ast.Attribute | ast.Call) and _name(node) != "TYPE_CHECKING":
        yield ast.UnaryOp(ast.Not(), node), "condition negated"


def _other_statements(node: ast.stmt) -> Iterator[tuple[ast.AST, str]]:
    written = isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Attribute | ast.Subscript)
    called = isinstance(node, ast.Expr) and isinstance(node.value, ast.Call)
    leaves = isinstance(node, ast.Raise | ast.Continue | ast.Break | ast.Delete) or (
        isinstance(node, ast.Return) and node.value is None
    )
    if written or called or leaves or isinstance(node, ast.AugAssign):
        yield ast.Pass(), "left out"
    if isinstance(node, ast.AugAssign) and type(node.op) in OPERATORS:
        new = ast.AugAssign(node.target, OPERATORS[type(node.op)](), node.value)
        yield new, f"{_sign(node.op)}= → {_sign(new.op)}="


def _other_comparisons(node: ast.Compare) -> Iterator[tuple[ast.AST, str]]:
    for position, operator in enumerate(node.ops):
        for other in COMPARISONS[type(operator)]:
            new = copy.copy(node)
            new.ops = [*node.ops[:position], other(), *node.ops[position + 1 :]]
            yield new, f"{_sign(operator)} → {_sign(new.ops[position])}"
    for position, operand in enumerate(node.comparators):
        for text in _strings(operand):
            new = copy.copy(node)
            new.comparators = list(node.comparators)
            new.comparators[position] = _with_other(operand, text)
            yield new, f"{text.value!r} → {'XX' + text.value!r}"


def _strings(node: ast.expr) -> list[ast.Constant]:
    found = node.elts if isinstance(node, ast.Tuple | ast.Set | ast.List) else [node]
    return [each for each in found if isinstance(each, ast.Constant) and isinstance(each.value, str)]


def _with_other(node: ast.expr, text: ast.Constant) -> ast.expr:
    new = ast.copy_location(ast.Constant("XX" + text.value), text)
    if node is text:
        return new
    several = copy.copy(node)
    several.elts = [new if each is text else each for each in node.elts]
    return several


def _other_calls(node: ast.Call) -> Iterator[tuple[ast.AST, str]]:
    name = _name(node)
    if isinstance(node.func, ast.Name) and name in NAMES:
        yield ast.Call(ast.Name(NAMES[name], ast.Load()), node.args, node.keywords), f"{name} → {NAMES[name]}"
    if isinstance(node.func, ast.Attribute) and name in METHODS:
        other = ast.Attribute(node.func.value, METHODS[name], ast.Load())
        yield ast.Call(other, node.args, node.keywords), f"{name} → {METHODS[name]}"
    if isinstance(node.func, ast.Attribute) and name in DROPPED:
        yield node.func.value, f"without .{name}()"
    if name in PICKING:
        for keyword in node.keywords:
            rest = [each for each in node.keywords if each is not keyword]
            yield ast.Call(node.func, node.args, rest), f"without {keyword.arg}="


def _name(node: ast.AST) -> str:
    """The last name of ``a.name`` or ``a.name(…)``."""
    while isinstance(node, ast.Call):
        node = node.func
    return getattr(node, "attr", getattr(node, "id", ""))


def _sign(operator: ast.AST) -> str:
    """``operator`` as it is written."""
    a, b = ast.Name("a"), ast.Name("b")
    pair = ast.Compare(a, [operator], [b]) if isinstance(operator, ast.cmpop) else ast.BinOp(a, operator, b)
    return ast.unparse(pair)[2:-2]


def _is_type(node: ast.BinOp) -> bool:
    """Whether it is a type, such as ``int | None``."""
    return ast.unparse(node.right) in {"None", "int", "float", "str", "bytes", "bool"}


def _is_only_said(node: ast.AST) -> bool:
    """Whether ``node`` is a docstring, a line of the log, or an argument that decides no result."""
    if isinstance(node, ast.keyword):
        return node.arg in SAFEGUARDS
    if not isinstance(node, ast.Expr):
        return False
    call = node.value
    is_log = isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and _name(call.func.value) == "logger"
    return is_log or isinstance(call, ast.Constant)


def _lines_of(statement: ast.stmt) -> range:
    """The lines of ``statement``, without those of the statements within it."""
    body = getattr(statement, "body", None) or getattr(statement, "cases", None)
    end = body[0].pattern.lineno if isinstance(statement, ast.Match) else body[0].lineno if body else 0
    return range(statement.lineno, max(statement.lineno, end - 1) + 1 if body else statement.end_lineno + 1)
