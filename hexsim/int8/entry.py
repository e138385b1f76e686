"""Entries: machine code that calls a kernel with arguments it finds in memory.

numba passes arrays and numbers in a way of its own, which differs with every signature. An entry
takes the address of 64-bit words instead, so that one loop can call any kernel
(`hexsim.int8.program`). An integer is one word; an array is its address, its shape and its strides.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from llvmlite import ir
from numba.core import types
from numba.core.compiler_lock import global_compiler_lock
from numba.core.registry import cpu_target
from numba.np.arrayobj import make_array, populate_array

from hexsim.int8.jit import Kernel

_WORD = ir.IntType(64)


def words(argument: Any) -> list[int]:
    """Return the words of an integer or an array, which the caller keeps alive."""
    if isinstance(argument, np.ndarray):
        return [argument.ctypes.data, *argument.shape, *argument.strides]
    return [int(argument)]


@cache
def entry(kernel: Kernel) -> int:
    """Return the address of the entry of `kernel`, compiling both if needed."""
    context = cpu_target.target_context
    compiled = kernel.compiled_result()
    types_of = compiled.signature.args
    name = f"{compiled.fndesc.llvm_func_name}.entry"
    library = context.codegen().create_library(name)
    module = library.create_ir_module(name)
    kind = ir.FunctionType(ir.VoidType(), [_WORD.as_pointer()])
    function = ir.Function(module, kind, name)
    builder = ir.IRBuilder(function.append_basic_block())
    at, arguments = 0, []
    for one in types_of:
        value, at = _argument(context, builder, function.args[0], one, at)
        arguments.append(value)
    address = compiled.library.get_pointer_to_function(compiled.fndesc.llvm_func_name)
    callee_kind = context.call_conv.get_function_type(types.none, types_of)
    callee = builder.inttoptr(_WORD(address), callee_kind.as_pointer())
    result = ir.Constant(callee_kind.args[0].pointee, None)
    raised = ir.Constant(callee_kind.args[1].pointee, None)
    places = [builder.alloca(value.type) for value in (result, raised)]
    flat = context.get_arg_packer(types_of).as_arguments(builder, arguments)
    builder.call(callee, [*places, *flat])
    builder.ret_void()
    with global_compiler_lock:
        library.add_ir_module(module)
        library.finalize()
        pointer: int = library.get_pointer_to_function(name)
    _libraries.append(library)
    return pointer


_libraries: list[Any] = []
"""Entries live as long as the process."""


def _argument(context: Any, builder: Any, memory: Any, kind: Any, at: int) -> tuple[Any, int]:
    """The value of one argument whose words start at `at`, and where the next one's start."""

    def word(index: int) -> Any:
        return builder.load(builder.gep(memory, [_WORD(at + index)]))

    if not isinstance(kind, types.Array):
        return builder.trunc(word(0), context.get_value_type(kind)), at + 1
    array = make_array(kind)(context, builder)
    populate_array(
        array,
        data=builder.inttoptr(word(0), array.data.type),
        shape=[word(1 + axis) for axis in range(kind.ndim)],
        strides=[word(1 + kind.ndim + axis) for axis in range(kind.ndim)],
        itemsize=context.get_constant(types.intp, kind.dtype.bitwidth // 8),
        meminfo=None,
    )
    return array._getvalue(), at + 1 + 2 * kind.ndim
