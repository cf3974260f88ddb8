"""The contract of ``make lint`` that no module imports itself by any way round.

import-linter's ``acyclic_siblings`` looks at the modules inside each package, and so never at a package itself: what
its ``__init__`` imports may not import the package.
"""

from __future__ import annotations

from graphlib import CycleError, TopologicalSorter

from grimp import ImportGraph
from importlinter import Contract, ContractCheck, output


class NoCircle(Contract):
    """Holds if the imports between all modules have no circle; an import inside a function counts as any other."""

    type_name = "no_circle"

    def check(self, graph: ImportGraph, verbose: bool) -> ContractCheck:
        found = circle_in(graph)
        return ContractCheck(kept=not found, metadata={"circle": found})

    def render_broken_contract(self, check: ContractCheck) -> None:
        output.print_error(" -> ".join(check.metadata["circle"]))


def circle_in(graph: ImportGraph) -> list[str]:
    """The modules of a circle, the first of them again at the end; empty if there is none."""
    imports = {module: graph.find_modules_directly_imported_by(module) for module in graph.modules}
    try:
        TopologicalSorter(imports).prepare()
    except CycleError as error:
        return list(reversed(error.args[1]))
    return []
