"""Entries: machine code that calls a kernel with arguments it finds in memory.

numba passes arrays and numbers in a way of its own, which differs with every signature. An entry
takes the address of 64-bit words instead (`machine_code.words`), so that one loop can call any
kernel (`commands.command_list`). Each machine argument has its words: an integer is one word, an
array has those of numba's structure for it.
"""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from llvmlite import ir
from numba.core import types
from numba.core.compiler_lock import global_compiler_lock
from numba.core.registry import cpu_target

from hexsim.int8.machine_code.jit import CompiledKernel
from hexsim.int8.machine_code.record import fields_of
from hexsim.int8.machine_code.words import seen

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
