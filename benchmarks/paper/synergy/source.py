"""What a kept result depends on besides its settings: the code that made it.

Takes the name of a module and gives a digest of all modules that it can reach, as code: comments,
docstrings and layout may change without making results old.
"""

from __future__ import annotations

import ast
import hashlib
from functools import cache
from pathlib import Path

_ROOT = Path(__file__).parents[3]
_PACKAGES = ("synergy_opt", "benchmarks")


@cache
def code_digest(module: str) -> str:
    """Give a digest of a module and of every module of ours that it imports, however deep.

    Imports inside functions count too. A package's ``__init__`` counts where it is imported from,
    not where a module inside it is: it names things, and decides nothing.
    """
    reached = _reached(module)
    text = "\n".join(f"{name} {reached[name]}" for name in sorted(reached))
    return hashlib.sha256(text.encode()).hexdigest()


def _reached(module: str) -> dict[str, str]:
    """Give what each module says that can be reached, by name."""
    found: dict[str, str] = {}
    todo = [module]
    while todo:
        name = todo.pop()
        path = _path(name)
        if path is None or name in found:
            continue
        tree = ast.parse(path.read_bytes())
        imported = _imported(tree)
        found[name] = ast.dump(_without_docstrings(tree))
        todo += imported
    return found


def _path(module: str) -> Path | None:
    """Give the file of a module of ours; None for a library, a function or a package's root."""
    if "." not in module or module.partition(".")[0] not in _PACKAGES:
        return None
    stem = _ROOT.joinpath(*module.split("."))
    found = (stem.with_suffix(".py"), stem / "__init__.py")
    return next((path for path in found if path.exists()), None)


def _imported(tree: ast.Module) -> list[str]:
    """Give what a module imports; of ``from a import b`` both ``a`` and ``a.b``, if modules."""
    names: list[str] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names.append(node.module)
            names += [f"{node.module}.{alias.name}" for alias in node.names]
    return names


def _without_docstrings(tree: ast.Module) -> ast.Module:
    """Drop every statement that is a string alone."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            node.body = [s for s in node.body if not _is_text(s)]
    return tree


def _is_text(statement: ast.stmt) -> bool:
    return (
        isinstance(statement, ast.Expr)
        and isinstance(statement.value, ast.Constant)
        and isinstance(statement.value.value, str)
    )
