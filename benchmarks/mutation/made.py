"""The mutants of some modules: made by mutmut, loaded in place of the modules, shown as changes.

A module that is loaded so holds every mutant of each function beside the function itself; which
one runs is decided at each call by the environment variable MUTANT_UNDER_TEST.
"""

from __future__ import annotations

import ast
import importlib.util
import sys
from collections.abc import Iterable
from difflib import unified_diff
from importlib.machinery import ModuleSpec, SourceFileLoader
from pathlib import Path
from types import CodeType

from mutmut.mutation.file_mutation import mutate_file_contents
from mutmut.utils.format_utils import get_mutant_name


class Mutated(SourceFileLoader):
    """Loads, in place of the modules chosen, what mutmut made of them.

    Parameters
    ----------
    files
        Paths of the modules from the root of the repository.
    """

    def __init__(self, files: Iterable[str]) -> None:
        self.code: dict[str, str] = {}
        self.files: dict[str, str] = {}
        self.mutants: dict[str, list[str]] = {}
        for file in files:
            made = mutate_file_contents(file, Path(file).read_text(encoding="utf-8"))
            module = file.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
            self.files[module], self.code[module] = file, made.code
            self.mutants[file] = [get_mutant_name(Path(file), name) for name in made.mutant_names]
        sys.meta_path.insert(0, self)  # type: ignore[arg-type] # a loader that also finds

    def find_spec(
        self, name: str, path: object = None, target: object = None
    ) -> ModuleSpec | None:
        """Claim the modules chosen; all others are found as always."""
        del path, target
        if name not in self.files:
            return None
        file = Path(self.files[name]).absolute()
        inside = [str(file.parent)] if file.name == "__init__.py" else None
        return importlib.util.spec_from_file_location(
            name, file, loader=self, submodule_search_locations=inside
        )

    def get_code(self, fullname: str) -> CodeType:
        """Compile what mutmut made, never a stored compilation of the file itself."""
        return compile(self.code[fullname], self.files[fullname], "exec")

    def change(self, mutant: str) -> list[str]:
        """Return the lines that a mutant takes out, with -, and those it puts in, with +."""
        module, _, name = mutant.rpartition(".")
        chosen = (f"{name.partition('__mutmut_')[0]}__mutmut_orig", name)
        functions = {
            node.name: ast.unparse(node).splitlines()[1:]
            for node in ast.walk(ast.parse(self.code[module]))
            if isinstance(node, ast.FunctionDef) and node.name in chosen
        }
        lines = unified_diff(*(functions[each] for each in chosen), lineterm="", n=0)
        return [line for line in list(lines)[2:] if not line.startswith("@@")]
