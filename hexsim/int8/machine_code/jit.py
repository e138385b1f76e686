"""Kernels: functions that numba compiles for one signature, when they are first called.

A network pays only for the kernels it uses, once per machine: compiled code is cached. Kernels
release the GIL, check nothing and allocate nothing: the shapes of what layers exchange are checked
in `hexsim.int8.dispatch`, the types of arguments in `check`. Inside a kernel, loop over a slice
instead of indexing with a computed start (LLVM then knows no index is negative and vectorises), and
copy arrays element by element (assigning an array to a slice costs a second of compilation).

The cache's folder is named by a hash of the source of this package, of numba's version, and of the
CPU and those of its features that kernels are compiled for: numba checks only the file that defines
a kernel, not the functions it inlines. In it each signature has a folder of its own. Numba numbers
the signatures and targets of a function, and two processes that add one at the same moment give
both the same number; with one of each in a folder the process that writes last writes the same.
Numba runs the code that it finds there, so the folder is one that nobody else can write.

Entries are machine code that calls a kernel with arguments it finds in memory. numba passes arrays
and numbers in a way that differs with every signature; an entry takes the address of 64-bit words
(`machine_code.words`), so that one loop can call any kernel (`commands`): one word for an integer,
those of numba's structure for an array.
"""

import functools
import hashlib
import inspect
import shutil
import threading
from collections.abc import Callable, Iterable, Sequence
from functools import cache, cached_property
from pathlib import Path
from typing import Any

import numba
import numpy as np
from llvmlite import ir
from numba.core import config, types
from numba.core.compiler_lock import global_compiler_lock
from numba.core.registry import cpu_target
from numba.extending import intrinsic

from hexsim.errors import HexsimError
from hexsim.files.private import is_own, private_folder
from hexsim.int8.machine_code.arguments import argument_types, fields_of, seen, typed
from hexsim.int8.machine_code.features import compiled_for

_PACKAGE = Path(__file__).parents[1]
"""All of hexsim.int8."""


def kernel_cache(signature: str) -> Path | None:
    """Return the folder for compiled kernels of that signature, or None if none can be trusted."""
    folder = cache_folder()
    if folder is None:
        return None
    signature_folder = folder / hashlib.sha256(signature.encode()).hexdigest()[:16]
    return signature_folder if is_own(signature_folder) else None


@cache
def cache_folder() -> Path | None:
    """Return the folder of everything cached with these kernels, or None.

    It is None if no private folder can be had (`hexsim.files.private`).
    """
    return private_folder(f"kernels-{_source_hash()}")


def _source_hash() -> str:
    """Return a hash of all that decides what the code of a kernel is, and how long it takes."""
    digest = hashlib.sha256(f"{numba.__version__} {compiled_for()}".encode())
    for path in sorted(_PACKAGE.rglob("*.py")):
        name = path.relative_to(_PACKAGE).as_posix()
        digest.update(name.encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()[:16]


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


def emits(result: Any, *kinds: Any) -> Callable[[Callable[..., Any]], Any]:
    """Decorate a function that emits LLVM IR as one of this signature, which kernels call.

    It gets a builder and the values of the arguments. For a kind that is None, the argument is an
    array of any type, and the function gets that type instead of a value.
    """

    def decorate(emit: Callable[..., Any]) -> Any:
        def define(typing: Any, *types: Any) -> tuple[Any, Callable[..., Any]]:
            def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
                emitted = emit(builder, *_chosen(kinds, values, types))
                return context.get_dummy_value() if emitted is None else emitted

            return result(*_chosen(kinds, kinds, types)), generate

        positional = inspect.Parameter.POSITIONAL_OR_KEYWORD
        names = ["typing", *(f"of_{index}" for index in range(len(kinds)))]
        functools.update_wrapper(define, emit)
        vars(define)["__signature__"] = inspect.Signature(
            [inspect.Parameter(name, positional) for name in names]
        )
        return intrinsic(define)

    return decorate


def _chosen(kinds: Sequence[Any], usual: Sequence[Any], types: Sequence[Any]) -> list[Any]:
    """Return what is `usual` for each argument, or its type where no kind is declared."""
    rows = zip(kinds, usual, types, strict=True)
    return [given if kind is None else value for kind, value, given in rows]


_WORD = ir.IntType(64)
_ENTRY = ir.FunctionType(ir.VoidType(), [_WORD.as_pointer()])
_NAME = "hexsim.entry"


def check(kernel: CompiledKernel, arguments: Sequence[Any]) -> None:
    """Raise TypeError unless `arguments`, fields of records one by one, are what `kernel` takes.

    Entries do not check their arguments, so this is the only place where a wrong type, number of
    dimensions or memory order is noticed.
    """
    expected = tuple(fields_of(kernel.types))
    if len(arguments) != len(expected):
        raise TypeError(f"{kernel.name} takes {len(expected)} arguments, not {len(arguments)}")
    for position, (argument, kind) in enumerate(zip(map(seen, arguments), expected, strict=True)):
        if not _fits(argument, kind):
            actual = type(argument).__name__
            if isinstance(argument, np.ndarray):
                order = "contiguous" if argument.flags.c_contiguous else "strided"
                actual = f"{order} array of {argument.dtype}, {argument.ndim} dimensions"
            raise TypeError(f"{kernel.name}: argument {position} is no {kind} but {actual}")


def _fits(argument: Any, kind: Any) -> bool:
    if not isinstance(kind, types.Array):
        return isinstance(kind, types.Integer) and isinstance(argument, int | np.integer)
    return (
        isinstance(argument, np.ndarray)
        and argument.dtype.name == kind.dtype.name
        and argument.ndim == kind.ndim
        and (kind.layout != "C" or argument.flags.c_contiguous)
        and argument.flags.aligned
    )


def entries(kernels: Iterable[CompiledKernel]) -> dict[CompiledKernel, int]:
    """Return the addresses of the entries of `kernels`, compiling what is needed."""
    wanted = tuple(dict.fromkeys(kernels))
    with global_compiler_lock:
        missing = [kernel for kernel in wanted if kernel not in _known]
        if missing:
            _known.update(_compiled(missing))
    return {kernel: _known[kernel] for kernel in wanted}


_known: dict[CompiledKernel, int] = {}
_libraries: list[Any] = []
"""The libraries of all entries, which live as long as the process."""


def _compiled(kernels: Sequence[CompiledKernel]) -> dict[CompiledKernel, int]:
    """Return the entries of all `kernels`, compiled together, since each time costs
    milliseconds."""
    names = {kernel: f"{_NAME}.{len(_known) + index}" for index, kernel in enumerate(kernels)}
    library = cpu_target.target_context.codegen().create_library(names[kernels[0]])
    module = library.create_ir_module(library.name)
    for kernel, name in names.items():
        _generate(ir.Function(module, _ENTRY, name), kernel)
    library.add_ir_module(module)
    library.finalize()
    _libraries.append(library)
    return {kernel: library.get_pointer_to_function(name) for kernel, name in names.items()}


def _generate(function: Any, kernel: CompiledKernel) -> None:
    compiled = kernel.compiled_result()
    convention = cpu_target.target_context.call_conv
    kind = convention.get_function_type(types.none, compiled.signature.args)
    builder = ir.IRBuilder(function.append_basic_block())
    result, raised, *arguments = kind.args
    values = [builder.alloca(pointer_argument.pointee) for pointer_argument in (result, raised)]
    for index, argument in enumerate(arguments):
        word = builder.load(builder.gep(function.args[0], [_WORD(index)]))
        pointer = isinstance(argument, ir.PointerType)
        values.append((builder.inttoptr if pointer else builder.trunc)(word, argument))
    address = compiled.library.get_pointer_to_function(compiled.fndesc.llvm_func_name)
    builder.call(builder.inttoptr(_WORD(address), kind.as_pointer()), values)
    builder.ret_void()
