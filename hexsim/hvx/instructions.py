"""The instructions that the streams use: class, assembly text and operands of each.

The text is that of Qualcomm's assembler, with operands in braces: `d` is the result, `a b c` are
the sources; after the colon the kind of register: v vector, w vector pair, z four vectors,
q p vector and scalar predicate, r scalar, s scalar pair, l one of the scalars r0-r7. `+=` and
`|=` read the result as well, `++` writes the address back. `{i}` is an immediate.

Left out: all that kernels of quantised networks do not need, such as 64-byte mode and floats.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property

_OPERAND = re.compile(r"\{([dabc]):([vwzqrslp])\}")


@dataclass(frozen=True)
class HvxInstruction:
    """One instruction of the set.

    name: used in streams. of_class: key of `HvxMachine.classes`. text: with operands in braces.
    macs: 8-bit multiply-adds per 32-bit lane of the vector. fixed: register used without being an
    operand.
    """

    name: str
    of_class: str
    text: str
    macs: int = 0
    fixed: str = ""

    @cached_property
    def kinds(self) -> dict[str, str]:
        """Register kind of each operand letter, in order of the text."""
        return dict(_OPERAND.findall(self.text))

    @cached_property
    def sources(self) -> tuple[str, ...]:
        """Letters of the ordinary sources, in alphabetical order."""
        return tuple(sorted(letter for letter in self.kinds if letter != "d"))

    @cached_property
    def accumulates(self) -> bool:
        """Whether the result is also read."""
        return bool(re.search(r"[+|]= ", self.text))

    @cached_property
    def increments(self) -> str | None:
        """Letter of the address that it writes back."""
        match = re.search(r"\{(\w):\w\}(\.ub)?\+\+", self.text)
        return match.group(1) if match else None

    @cached_property
    def addresses(self) -> bool:
        """Whether source `a` is a memory address."""
        return re.search(r"mem|fetch|gather|scatter", self.text) is not None


def _table(of_class: str, *entries: tuple[str, str] | tuple[str, str, int]) -> list[HvxInstruction]:
    fixed = "Z" if of_class.startswith("Z") else ""
    return [
        HvxInstruction(e[0], of_class, e[1], e[2] if len(e) == 3 else 0, fixed) for e in entries
    ]


_ALL = [
    *_table(
        "alu",
        ("mov", "{d:v} = {a:v}"),
        ("add.w", "{d:v}.w = vadd({a:v}.w,{b:v}.w)"),
        ("add.h.sat", "{d:v}.h = vadd({a:v}.h,{b:v}.h):sat"),
        ("add.h", "{d:v}.h = vadd({a:v}.h,{b:v}.h)"),
        ("sub.w", "{d:v}.w = vsub({a:v}.w,{b:v}.w)"),
        ("sub.h", "{d:v}.h = vsub({a:v}.h,{b:v}.h)"),
        ("sub.ub.sat", "{d:v}.ub = vsub({a:v}.ub,{b:v}.ub):sat"),
        ("max.ub", "{d:v}.ub = vmax({a:v}.ub,{b:v}.ub)"),
        ("min.ub", "{d:v}.ub = vmin({a:v}.ub,{b:v}.ub)"),
        ("max.h", "{d:v}.h = vmax({a:v}.h,{b:v}.h)"),
        ("min.h", "{d:v}.h = vmin({a:v}.h,{b:v}.h)"),
        ("max.w", "{d:v}.w = vmax({a:v}.w,{b:v}.w)"),
        ("min.w", "{d:v}.w = vmin({a:v}.w,{b:v}.w)"),
        ("avg.ub.rnd", "{d:v}.ub = vavg({a:v}.ub,{b:v}.ub):rnd"),
        ("and", "{d:v} = vand({a:v},{b:v})"),
        ("or", "{d:v} = vor({a:v},{b:v})"),
        ("xor", "{d:v} = vxor({a:v},{b:v})"),
        ("mux", "{d:v} = vmux({a:q},{b:v},{c:v})"),
        ("gt.w", "{d:q} = vcmp.gt({a:v}.w,{b:v}.w)"),
        ("shuffe.b", "{d:v}.b = vshuffe({a:v}.b,{b:v}.b)"),
        ("shuffo.b", "{d:v}.b = vshuffo({a:v}.b,{b:v}.b)"),
    ),
    *_table("saturate", ("sat.h.ub", "{d:v}.ub = vsat({a:v}.h,{b:v}.h)")),
    *_table(
        "alu pair",
        ("combine", "{d:w} = vcombine({a:v},{b:v})"),
        ("zxt.ub", "{d:w}.uh = vzxt({a:v}.ub)"),
        ("shuffoe.b", "{d:w}.b = vshuffoe({a:v}.b,{b:v}.b)"),
    ),
    *_table(
        "splat",
        ("splat", "{d:v} = vsplat({a:r})"),
    ),
    *_table(
        "multiply",
        ("dot.ub.Rub", "{d:v}.uw = vrmpy({a:v}.ub,{b:r}.ub)", 4),
        ("dot.ub.Rub.acc", "{d:v}.uw += vrmpy({a:v}.ub,{b:r}.ub)", 4),
        ("dot.ub.b", "{d:v}.w = vrmpy({a:v}.ub,{b:v}.b)", 4),
    ),
    *_table(
        "vector dot acc",
        ("dot.ub.b.acc", "{d:v}.w += vrmpy({a:v}.ub,{b:v}.b)", 4),
        ("dot.ub.ub.acc", "{d:v}.uw += vrmpy({a:v}.ub,{b:v}.ub)", 4),
    ),
    *_table("two-stream dot", ("dot.b.Rttub.acc", "{d:w}.w += vrmpy({a:v}.b,{b:s}.ub)", 8)),
    *_table("Z dot", ("dotz.b.acc", "{d:z}.w += vrmpyz({a:v}.b,{b:l}.ub++)", 16)),
    *_table(
        "multiply pair",
        ("mpye", "{d:v}.w = vmpye({a:v}.w,{b:v}.uh)"),
        ("mpyo.acc", "{d:v}.w += vmpyo({a:v}.w,{b:v}.h):<<1:rnd:sat:shift"),
        ("mpy.ub.Rub", "{d:w}.uh = vmpy({a:v}.ub,{b:r}.ub)"),
        ("mpy.ub.Rub.acc", "{d:w}.uh += vmpy({a:v}.ub,{b:r}.ub)"),
        ("mpy.uh.Ruh", "{d:w}.uw = vmpy({a:v}.uh,{b:r}.uh)"),
        ("mpy.uh.Ruh.acc", "{d:w}.uw += vmpy({a:v}.uh,{b:r}.uh)"),
        ("mpy.h.h.frac", "{d:v}.h = vmpy({a:v}.h,{b:v}.h):<<1:rnd:sat"),
        ("mpa.ub.Rb", "{d:w}.h = vmpa({a:w}.ub,{b:r}.b)"),
        ("add.ub.h", "{d:w}.h = vadd({a:v}.ub,{b:v}.ub)"),
        ("sub.ub.h", "{d:w}.h = vsub({a:v}.ub,{b:v}.ub)"),
        ("mpy.h.h", "{d:w}.w = vmpy({a:v}.h,{b:v}.h)"),
    ),
    *_table(
        "shift",
        ("asl.w.R", "{d:v}.w = vasl({a:v}.w,{b:r})"),
        ("asr.w.w", "{d:v}.w = vasr({a:v}.w,{b:v}.w)"),
        ("asr.w.R", "{d:v}.w = vasr({a:v}.w,{b:r})"),
        ("lsr.uw.R", "{d:v}.uw = vlsr({a:v}.uw,{b:r})"),
        ("asl.w.w", "{d:v}.w = vasl({a:v}.w,{b:v}.w)"),
        ("lsr.w.w", "{d:v}.w = vlsr({a:v}.w,{b:v}.w)"),
        ("asr.w.h.sat", "{d:v}.h = vasr({a:v}.w,{b:v}.w,{c:l}):sat"),
        ("asr.w.h.rnd", "{d:v}.h = vasr({a:v}.w,{b:v}.w,{c:l}):rnd:sat"),
        ("asr.h.ub.rnd", "{d:v}.ub = vasr({a:v}.h,{b:v}.h,{c:l}):rnd:sat"),
        ("cl0.uw", "{d:v}.uw = vcl0({a:v}.uw)"),
    ),
    *_table(
        "permute",
        ("shuff.b", "{d:v}.b = vshuff({a:v}.b)"),
        ("pack.w.h", "{d:v}.h = vpack({a:v}.w,{b:v}.w):sat"),
        ("pack.h.ub", "{d:v}.ub = vpack({a:v}.h,{b:v}.h):sat"),
        ("align", "{d:v} = valign({a:v},{b:v},{c:l})"),
        ("lalign", "{d:v} = vlalign({a:v},{b:v},{c:l})"),
        ("delta", "{d:v} = vdelta({a:v},{b:v})"),
        ("rdelta", "{d:v} = vrdelta({a:v},{b:v})"),
        ("lut32", "{d:v}.b = vlut32({a:v}.b,{b:v}.b,{c:l})"),
    ),
    *_table(
        "permute pair",
        ("shuff.pair", "{d:w} = vshuff({a:v},{b:v},{c:l})"),
        ("deal.pair", "{d:w} = vdeal({a:v},{b:v},{c:l})"),
        ("lut32.or", "{d:v}.b |= vlut32({a:v}.b,{b:v}.b,{c:l})"),
        ("unpack.ub", "{d:w}.uh = vunpack({a:v}.ub)"),
    ),
    *_table(
        "vector load",
        ("load", "{d:v} = vmem({a:r}++#1)"),
        ("load.at", "{d:v} = vmem({a:r}+#{i})"),
        ("load.cur", "{d:v}.cur = vmem({a:r}++#1)"),
        ("load.cur.at", "{d:v}.cur = vmem({a:r}+#{i})"),
    ),
    *_table(
        "vector load tmp",
        ("load.tmp", "{d:v}.tmp = vmem({a:r}++#1)"),
        ("load.tmp.at", "{d:v}.tmp = vmem({a:r}+#{i})"),
    ),
    *_table(
        "vector load unaligned",
        ("loadu", "{d:v} = vmemu({a:r}++#1)"),
    ),
    *_table(
        "vector store",
        ("store", "vmem({a:r}++#1) = {b:v}"),
        ("store.at", "vmem({a:r}+#{i}) = {b:v}"),
    ),
    *_table(
        "vector store new",
        ("store.new", "vmem({a:r}++#1) = {b:v}.new"),
        ("store.new.at", "vmem({a:r}+#{i}) = {b:v}.new"),
    ),
    *_table("vector store unaligned", ("storeu", "vmemu({a:r}++#1) = {b:v}")),
    *_table("Z load", ("loadz", "z = vmem({a:r}++#1)")),
    *_table("extract", ("extract", "{d:r} = vextract({a:v},{b:r})")),
    *_table("histogram", ("histogram", "vhist")),
    *_table("gather", ("gather.w", "vtmp.w = vgather({a:r},m0,{b:v}.w).w")),
    *_table("gather pair", ("gather.h", "vtmp.h = vgather({a:r},m0,{b:w}.w).h")),
    *_table("scatter", ("scatter.w", "vscatter({a:r},m0,{b:v}.w).w = {c:v}")),
    *_table(
        "scalar alu",
        ("r.add", "{d:r} = add({a:r},{b:r})"),
        ("r.addi", "{d:r} = add({a:r},#{i})"),
        ("r.sub", "{d:r} = sub({a:r},{b:r})"),
        ("r.max", "{d:r} = max({a:r},{b:r})"),
        ("r.min", "{d:r} = min({a:r},{b:r})"),
        ("r.mov", "{d:r} = {a:r}"),
        ("r.movi", "{d:r} = #{i}"),
        ("r.combine", "{d:s} = combine({a:r},{b:r})"),
        ("r.gt", "{d:p} = cmp.gt({a:r},#{i})"),
        ("jump.if", "if ({a:p}) jump:nt body"),
    ),
    *_table(
        "scalar shift or multiply",
        ("r.mpyi", "{d:r} = mpyi({a:r},{b:r})"),
        ("r.mac", "{d:r} += mpyi({a:r},{b:r})"),
        ("r.lsr", "{d:r} = lsr({a:r},#{i})"),
        ("r.asl", "{d:r} = asl({a:r},#{i})"),
    ),
    *_table(
        "scalar load",
        ("r.loadd", "{d:s} = memd({a:r}++#{i})"),
        ("r.loadd.at", "{d:s} = memd({a:r}+#{i})"),
        ("r.loadw", "{d:r} = memw({a:r}++#{i})"),
        ("r.loadw.at", "{d:r} = memw({a:r}+#{i})"),
        ("r.loadub", "{d:r} = memub({a:r}++#{i})"),
        ("r.loadub.step", "{d:r} = memub({a:r}++m0)"),
    ),
    *_table(
        "scalar store",
        ("r.stored.at", "memd({a:r}+#{i}) = {b:s}"),
        ("r.storew.at", "memw({a:r}+#{i}) = {b:r}"),
        ("r.storeb", "memb({a:r}++#{i}) = {b:r}"),
    ),
    *_table("frame", ("allocframe", "allocframe(#{i})")),
    *_table("prefetch", ("dcfetch", "dcfetch({a:r}+#{i})")),
    *_table("box prefetch", ("l2fetch", "l2fetch({a:r},{b:s})")),
    *_table("loop setup", ("loop0", "loop0(body,{a:r})"), ("loop1", "loop1(outer,{a:r})")),
]

OPERATIONS: dict[str, HvxInstruction] = {operation.name: operation for operation in _ALL}
