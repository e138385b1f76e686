"""What LLVM makes of a loop for a CPU, whichever one this machine has."""

import llvmlite.binding as llvm
from llvmlite import ir

FEATURES = {
    "haswell": "+avx2",
    "alderlake": "+avx2,+avxvnni",
    "icelake-server": "+avx512vnni,+avx512vbmi",
}
llvm.initialize_all_targets()
llvm.initialize_all_asmprinters()


def assembly(emit, words, cpu):
    """The lines of a function of so many words, whose body `emit` emits from builder and words."""
    module = ir.Module("loop")
    kind = ir.FunctionType(ir.VoidType(), [ir.IntType(64)] * words)
    function = ir.Function(module, kind, "loop")
    builder = ir.IRBuilder(function.append_basic_block())
    emit(builder, function.args)
    builder.ret_void()
    target = llvm.Target.from_triple("x86_64-unknown-linux-gnu")
    machine = target.create_target_machine(cpu=cpu, features=FEATURES[cpu], opt=3)
    parsed = llvm.parse_assembly(str(module))
    parsed.verify()
    return machine.emit_assembly(parsed).splitlines()
