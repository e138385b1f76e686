"""`hexsim kernel`."""

import json

import pytest

from tests.hvx.code.compiled import compiled


def test_a_convolution_is_shown_down_to_its_packets(command):
    done = command("kernel conv --chip sd855 --shape 56x56x64:64:3x3 --json out.json")
    assert done.code == 0
    assert "VTCM" in done.out
    assert "initiation interval" in done.out
    assert "vrmpyz" in done.out
    with open("out.json", encoding="utf-8") as file:
        document = json.load(file)
    stream = document["streams"][0]
    assert stream["name"] == "conv v66"
    of_loop = {loop["name"]: loop["packets_issued"] for loop in document["loops"]}
    packets = 0
    for segment in stream["segments"]:
        assert bool(segment["packets"]) == (segment["loop"] is None)  # no packet stands twice
        each = of_loop.get(segment["loop"], len(segment["packets"])) / segment["unrolled"]
        packets += each * segment["times"]
    assert packets == stream["slots_per_tile"] - stream["stalls_per_tile"]
    assert f"{stream['slots_per_tile']} slots" in done.out
    for segment in stream["segments"]:
        if segment["initiation_interval"] is not None:
            assert segment["initiation_interval"] >= segment["resource_bound"]
    assert document["blocking"]["weight_groups"] == 1
    assert 0 < document["cost"]["efficiency"] < 1


def test_a_chip_changes_the_form(command):
    form = {}
    for chip in ("sd835", "sd845", "sd855"):
        assert command(f"kernel conv --chip {chip} --shape 28x28x64:64:1x1 --json o.json").code == 0
        with open("o.json", encoding="utf-8") as file:
            form[chip] = json.load(file)["blocking"]["form"]
    assert form == {"sd835": "v60", "sd845": "v65", "sd855": "v66"}


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("kernel convolution --shape 1x1x1", "did you mean conv?"),
        ("kernel conv --shape banana", "is not a shape that conv takes"),
        ("kernel relu --shape 5x5x5 --chip sd778g", "cannot be simulated on dsp"),
        ("kernel relu --shape 5x5x5 --json missing/x.json", "cannot write"),
        (f"kernel {__file__} --shape 5x5x5", "--shape is for a kernel of hexsim"),
    ],
)
def test_what_cannot_be_shown_is_refused(refused, line, says):
    assert says in refused(line)


def test_profiles_show_packets_stalls_and_utilisation(command):
    done = command("profile squeezenet1_1 --chip sd835 --all")
    assert done.code == 0
    (line,) = (splitline for splitline in done.out.splitlines() if splitline.startswith("layer "))
    header = line.split()
    assert {"packets", "stalls", "used"} <= set(header)
    fire = next(line for line in done.out.splitlines() if line.startswith("fire2/squeeze1x1"))
    stalls, hvx = [cell for cell in fire.split() if cell.endswith("%")][1:3]
    assert 10 <= int(stalls.rstrip("%")) <= 30
    assert 0 < int(hvx.rstrip("%")) <= 100


LOOP = """
 .globl f
 .type f,@function
f:
 { loop0(.L1,#10) }
 .p2align 4
.L1:
 { v0 = vmem(r0++#1) }
 { v1.w += vrmpy(v0.ub,v2.b) }:endloop0
 { jumpr r31 }
 .size f, .-f
"""


@pytest.fixture
def loop(command, tmp_path):
    (tmp_path / "f.s").write_text(LOOP)
    return command


@pytest.mark.toolchain
def test_assembly_is_read_and_timed(loop, tmp_path):
    done = loop("kernel f.s --chip sd8gen2 --json k.json --html k.html")
    assert done.code == 0
    assert "multiplier waits for v0 of v0 = vmem(r0++#0x1)" in done.out
    document = json.loads((tmp_path / "k.json").read_text())
    (only,) = document["loops"]
    assert (only["trips"], only["packets_issued"], only["stalls"]) == (10, 2, 1)
    assert only["total_clocks"] == 10 * only["clocks"] == 60
    assert document["functions"][0]["total_clocks"] > 60
    page = (tmp_path / "k.html").read_text()
    assert "<svg" in page
    assert "vrmpy" in page


@pytest.mark.toolchain
def test_wide_names_and_trips(loop):
    done = loop("kernel f.s --chip sd8gen2 --function f --trips f+0x10=1000 --wide")
    assert done.code == 0
    assert "1000 times: 6000 clocks in all" in done.out
    assert loop("kernel f.s --chip sd8gen2 --against f.s").code == 0


def elf(machine=164, flags=0x73, size=52, bits=1):
    data = bytearray(52)
    data[:7] = b"\x7fELF" + bytes((bits, 1, 1))
    data[16:20] = (1).to_bytes(2, "little") + machine.to_bytes(2, "little")
    data[20] = 1
    data[36:40] = flags.to_bytes(4, "little")
    data[40:42] = (52).to_bytes(2, "little")
    return bytes(data[:size])


FILES = {
    "empty.o": b"",
    "text.o": b"hello",
    "text.txt": b"hello",
    "x86.o": elf(machine=62),
    "wide.o": elf(bits=2),
    "cut.o": elf(size=40),
    "old.o": elf(flags=0x5),
    "new.o": elf(flags=0x8073),
    "none.o": elf(),
    "bad.s": b" { v0 = vconjure(v1) }\n",
    "packet.s": b" { v0 = vmem(r0+#0)\n v1 = vmem(r1+#0)\n v2 = vmem(r2+#0) }\n",
    "binary.s": bytes(range(256)),
    "empty.s": b"",
    "f.s": LOOP.encode(),
}


@pytest.mark.toolchain
@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("missing.o", "does not exist"),
        (".", "is a folder"),
        ("empty.o", "is empty"),
        ("text.o", "is no ELF file"),
        ("text.txt", "is no ELF file"),
        ("x86.o", "another processor"),
        ("wide.o", "no 32-bit"),
        ("cut.o", "ends within the ELF header"),
        ("old.o", "hexsim knows V60"),
        ("none.o", "has no code"),
        ("new.o", "has no code"),
        ("bad.s", "line 1: "),
        ("packet.s", "line "),
        ("binary.s", "binary.s"),
        ("empty.s", "is empty"),
        ("f.s --function g", "function"),
        ("f.s --trips g=3", "loop of f.s"),
        ("f.s --trips f+0x10", "is not LOOP=N"),
        ("f.s --trips f+0x10=-3", "is not LOOP=N"),
        ("f.s --against missing.o", "missing.o does not exist"),
        ("f.s --html missing/k.html", "cannot write"),
        ("f.s --chip sd8gen99", "sd8gen99"),
        ("f.s --chip sd625", "nothing is known of its threads"),
        ("/dev/zero", "no plain file"),
        ("f.s --chip sd662 --shape 1x1x1", "f.s"),
        ("conv --shape 8x8x32:32:1x1 --function f", "--function is for a file"),
        ("conv", "needs --shape"),
        ("f.s --run", "QEMU does not run f.s"),
        ("f.s words", "arguments are for a program, with --run"),
        ("conv --shape 8x8x32:32:1x1 --run", "--run is for a file"),
    ],
)
def test_a_wrong_file_ends_in_one_sentence(refused, tmp_path, line, says):
    for name, data in FILES.items():
        (tmp_path / name).write_bytes(data)
    assert says in refused(f"kernel {line}" + ("" if "--chip" in line else " --chip sd8gen2"))


@pytest.mark.toolchain
def test_code_of_a_later_version_names_both(refused, tmp_path):
    file = compiled("copy", 73, tmp_path)
    assert "V73, and sd855 has V66" in refused(f"kernel {file.name} --chip sd855")


def test_without_llvm_the_package_is_named(refused, tmp_path, monkeypatch):
    (tmp_path / "f.s").write_text(LOOP)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert "apt install llvm-19" in refused("kernel f.s --chip sd8gen2")


@pytest.mark.toolchain
def test_an_instruction_that_llvm_does_not_know(refused, tmp_path):
    (tmp_path / "hmx.s").write_text(" .globl f\n .type f,@function\nf:\n .word 0xa6e0c0ff\n")
    says = refused("kernel hmx.s --chip sd8gen2")
    assert "function f, address 0: " in says
    assert "do not have the instruction" in says


@pytest.mark.toolchain
def test_functions_with_unknown_instructions_are_left_out_and_named(loop, tmp_path):
    unknown = " .globl g\n .type g,@function\ng:\n .word 0xa6e0c0ff\n"
    (tmp_path / "both.s").write_text(LOOP + unknown)
    done = loop("kernel both.s --chip sd8gen2")
    assert done.code == 0
    assert "left out: both.s, function g, address " in done.out
    assert "f+0x10" in done.out
