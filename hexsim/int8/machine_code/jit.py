"""Kernels: functions that numba compiles for one signature, when they are first called.

A network pays only for the kernels it uses, and only once per machine: compiled code is cached
(`machine_code.cache`). Kernels release the GIL, check nothing and allocate nothing: the shapes of
what layers exchange are checked in `hexsim.int8.packed_call`, the types of arguments in
`machine_code.entry.check`. Inside a kernel, loop over a slice instead of indexing with a computed
start (LLVM then knows no index is negative and vectorises), and copy arrays element by element
(assigning an array to a slice costs more than a second of compilation).
"""

import shutil
import threading
from collections.abc import Callable
from functools import cached_property
from typing import Any

import numba
import numpy as np
from numba.core import config, types

from hexsim.errors import HexsimError
from hexsim.int8.machine_code.cache import kernel_cache
from hexsim.int8.machine_code.record import argument_types, typed

_compiling = threading.RLock()


class CompiledKernel:
    """A compiled function without a result.

    `signature` is numba's, "void(int32[::1])", and may name records (`machine_code.record`).
    """

    def __init__(self, function: Callable[..., None], signature: str) -> None:
        self.function = function
        self.signature = signature

    def __call__(self, *arguments: object) -> None:
        """Run on `arguments`, whose types and sizes the caller vouches for."""
        self._compiled(*map(typed, arguments, self.types))

    @property
    def name(self) -> str:
        """Return the module and the name of the function."""
        return f"{self.function.__module__}.{self.function.__name__}"

    @cached_property
    def types(self) -> tuple[Any, ...]:
        """Return numba's types of the arguments."""
        return argument_types(self.signature.removeprefix("void(").removesuffix(")"))

    def compiled_result(self) -> Any:
        """Return numba's record of the compiled function: signature, library, name."""
        (result,) = self._compiled.overloads.values()
        return result

    @cached_property
    def _compiled(self) -> Any:
        if config.DISABLE_JIT:  # kernels use instructions that Python itself does not have
            raise HexsimError(
                "numba is told to compile nothing, and integers are computed by what it compiles; "
                "unset NUMBA_DISABLE_JIT"
            )
        folder = kernel_cache(self.signature)
        with _compiling:
            if folder is None:
                return self._compile()
            before = config.CACHE_DIR
            config.CACHE_DIR = str(folder)
            try:
                return self._compile(cache=True)
            except Exception:  # whatever damaged files and a full disk lead numba to
                shutil.rmtree(folder, ignore_errors=True)
            finally:
                config.CACHE_DIR = before
            return self._compile()

    def _compile(self, *, cache: bool = False) -> Any:
        signature = types.void(*self.types)
        return numba.njit(signature, nogil=True, cache=cache)(self.function)


def kernel(signature: str) -> Callable[[Callable[..., None]], CompiledKernel]:
    """Decorate a function as a kernel of that signature."""
    return lambda function: CompiledKernel(function, signature)


class Template:
    """A kernel for several element types, each of which has a compiled kernel of its own.

    `{0}`, `{1}` in the signature stand for the types.
    """

    def __init__(self, function: Callable[..., None], signature: str) -> None:
        self._function = function
        self._signature = signature
        self._kernels: dict[tuple[str, ...], CompiledKernel] = {}

    def __call__(self, *types: np.dtype[Any]) -> CompiledKernel:
        """Return the kernel for elements of `types`."""
        names = tuple(kind.name for kind in types)
        if names not in self._kernels:
            self._kernels[names] = CompiledKernel(self._function, self._signature.format(*names))
        return self._kernels[names]


def template(signature: str) -> Callable[[Callable[..., None]], Template]:
    """Decorate a function as a kernel for several element types."""
    return lambda function: Template(function, signature)


def inlined(function: Callable[..., Any]) -> Callable[..., Any]:
    """Decorate a function that kernels call; it becomes part of each."""
    decorated: Callable[..., Any] = numba.njit(inline="always")(function)
    return decorated


def subroutine(function: Callable[..., Any]) -> Callable[..., Any]:
    """Decorate a long function that kernels call; it becomes part of each.

    Numba compiles it once, and LLVM puts it in; of one that is `inlined`, numba compiles every
    copy anew.
    """
    decorated: Callable[..., Any] = numba.njit(forceinline=True)(function)
    return decorated
