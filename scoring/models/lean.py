"""transformers without torch's compiler and its tensors over several machines, which nothing here uses.

transformers imports both, and they import sympy: a third of the processor time until a process can load a model, and
80 MB of it. What is imported inside ``without_compiler`` finds the little that it names of them in a stand-in;
afterwards whoever asks for ``torch._dynamo`` has the real one. Only for processes that do nothing but score:
transformers has no flex attention and no tensor parallelism in them.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from importlib import import_module
from types import ModuleType
from typing import Any, Final

_COMPILER: Final = "torch._dynamo"
_INDEXING: Final = f"{_COMPILER}._trace_wrapped_higher_order_op"


@contextmanager
def without_compiler() -> Iterator[None]:
    """Inside, transformers is imported without them; where the compiler is there already, as ever."""
    if _COMPILER in sys.modules:
        yield
        return
    torch = import_module("torch")
    with ExitStack() as replaced:
        compiler, indexing = _stand_ins()
        for name, module in ((_COMPILER, compiler), (_INDEXING, indexing)):
            sys.modules[name] = module
            replaced.callback(sys.modules.pop, name)
        torch.__dict__["_dynamo"] = compiler  # asked with getattr, torch would import it
        replaced.callback(torch.__dict__.pop, "_dynamo")
        _replace(replaced, torch.compiler, "disable", _not_compiled)
        _replace(replaced, torch.distributed, "is_available", lambda: False)
        _replace(replaced, import_module("transformers.utils"), "is_torch_flex_attn_available", lambda: False)
        yield


def _stand_ins() -> tuple[ModuleType, ModuleType]:
    compiler, indexing = ModuleType(_COMPILER), ModuleType(_INDEXING)
    vars(compiler).update(__path__=[], allow_in_graph=lambda function: function)
    vars(indexing).update(TransformGetItemToIndex=_real_indexing)
    return compiler, indexing


def _real_indexing() -> Any:
    """What some architectures make masks with: they import the compiler when they first need it."""
    return import_module(_INDEXING).TransformGetItemToIndex()


def _not_compiled(function: Any = None, **_: Any) -> Any:
    """In the place of ``torch.compiler.disable``, as a decorator with or without arguments."""
    return function if function is not None else lambda decorated: decorated


def _replace(until: ExitStack, owner: Any, name: str, value: Callable[..., Any]) -> None:
    until.callback(setattr, owner, name, getattr(owner, name))
    setattr(owner, name, value)
