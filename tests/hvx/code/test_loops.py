"""Functions and loops of code in the forms that people write and linkers make."""

import subprocess

import pytest

import hexsim
from hexsim.hvx.code.disassembly import read_code
from hexsim.hvx.code.loops import flattened, loops_of
from tests.oracle.toolchain import CLANG, LLD

pytestmark = pytest.mark.toolchain
FUNCTION = " .globl {0}\n .type {0},@function\n{0}:\n{1} .size {0}, .-{0}\n"
ROWS = """ { loop0(.Lin,r2) }
 .p2align 4
.Lin:
 { r3 = add(r3,#1) }
 { r4 = add(r4,#1) }:endloop0
 { r0 = add(r0,#-1)
   loop0(.Lin,r2)
   p0 = cmp.gt(r0,#1)
   if (p0.new) jump:t .Lin }
 { r5 = add(r5,#1) }
 { r0 = #4
   r1 = add(r1,#-1)
   p0 = cmp.gt(r1,#1)
   if (p0.new) jump:t .Lin }
 { jumpr r31 }
"""
"""Three loops from one place: with 4, 3 and 2 trips, 24 times 2 packets, 12 and 3 times 2."""
BEGIN = " { r0 = #4\n r1 = #3 }\n { r2 = #2\n call f }\n { r0 = #0\n r6 = #94 }\n { trap0(#1) }\n"


def written(folder, text, name="code.s"):
    path = folder / name
    path.write_text(text)
    return path


def linked(folder, *sources):
    objects = []
    for number, source in enumerate(sources):
        objects.append(str(folder / f"{number}.o"))
        path = written(folder, source, f"{number}.s")
        command = [CLANG, "--target=hexagon-unknown-linux-musl", "-mv66", "-c", str(path)]
        subprocess.run([*command, "-o", objects[-1]], check=True)
    subprocess.run([LLD, "-static", "-o", str(folder / "program"), *objects], check=True)
    return folder / "program"


def names(path, function=None):
    code = read_code(path, 66, function)
    return {
        each.name: [(depth, loop.name) for depth, loop in flattened(loops_of(each))]
        for each in code.functions
    }


def test_loops_that_begin_at_one_place_have_names_and_trips_of_their_own(tmp_path):
    file = written(tmp_path, FUNCTION.format("f", ROWS))
    loops = hexsim.kernel(file, chip="sd855").loops
    assert [loop.depth for loop in loops] == [0, 1, 2]
    assert [loop.name for loop in loops] == ["f+0x10-0x2c", "f+0x10-0x1c", "f+0x10"]
    assert [loop.packets_issued for loop in loops] == [2, 1, 2]
    trips = dict(zip((loop.name for loop in loops), (3, 4, 2), strict=True))
    (function,) = hexsim.kernel(file, chip="sd855", trips=trips).functions
    assert function.executed == 2 + 24 * 2 + 12 + 3 * 2


def test_packets_by_trips_are_those_of_a_run(tmp_path):
    program = linked(tmp_path, FUNCTION.format("_start", BEGIN), FUNCTION.format("f", ROWS))
    ran = hexsim.kernel(program, chip="sd855", function="f", run=[])
    assert [loop.trips for loop in ran.loops] == [3, 12, 24]
    assert ran.functions[0].executed == 2 + 24 * 2 + 12 + 3 * 2


def test_a_jump_to_another_function_is_no_loop(tmp_path):
    """An object has such a jump to itself, and where it goes in a relocation."""
    text = " { r0 = add(r0,#1)\n jump other }\n"
    assert names(written(tmp_path, FUNCTION.format("f", text))) == {"f": []}
    (packet,) = read_code(tmp_path / "code.s", 66).functions[0].packets
    assert packet.text.endswith("jump other")


def test_a_loop_to_a_global_label_begins_there(tmp_path):
    """Its address is in a relocation too, and in the packet that of the packet."""
    text = (
        " { loop0(inside,r1) }\n { r3 = #0 }\n .globl inside\ninside:\n"
        " { r2 = add(r2,r3) }:endloop0\n { p0 = cmp.eq(r2,r1)\n if (!p0.new) jump:nt f }\n"
    )
    path = written(tmp_path, FUNCTION.format("f", text))
    assert names(path) == {"f": [(0, "f"), (1, "inside")]}


def test_a_branch_behind_the_return_is_no_loop(tmp_path):
    text = (
        " { p0 = cmp.gt(r1,#0)\n if (!p0.new) jump:nt .Lrare }\n"
        ".Lback:\n { r2 = add(r2,#1) }\n { jumpr r31 }\n"
        ".Lrare:\n { r2 = #7 }\n { jump .Lback }\n"
    )
    assert names(written(tmp_path, FUNCTION.format("f", text))) == {"f": []}


def test_a_program_has_functions_of_one_name_gaps_and_further_names(tmp_path):
    """Between functions of two files are zeros, which are no instructions."""
    local = " .type step,@function\nstep:\n { jumpr r31 }\n .size step, .-step\n"
    again = " .globl again\n .type again,@function\n .set again, _start\n .p2align 6\n"
    begin = FUNCTION.format("_start", " { call step }\n { jumpr r31 }\n")
    program = linked(tmp_path, begin + again + local, local)
    code = read_code(program, 66)
    assert code.left_out == ()
    first, near, far = code.functions
    assert first.name in ("_start", "again")
    assert [near.name, far.name.split("@")[0]] == ["step", "step"]
    assert int(far.name.split("@")[1], 16) == far.packets[0].address > near.packets[0].address
    assert read_code(program, 66, far.name).functions == (far,)
    for name in ("_start", "again"):
        (function,) = read_code(program, 66, name).functions
        assert (function.name, function.packets) == (name, first.packets)
