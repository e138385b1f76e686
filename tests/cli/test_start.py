import subprocess
import sys

import pytest

from hexsim.cli import main
from hexsim.snpe import main as snpe_main


@pytest.mark.parametrize("name", ["hexsim", "snpe-net-run"])
def test_another_system_is_reported(
    name: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")
    monkeypatch.setattr(sys, "argv", [name, "--version"])
    with pytest.raises(SystemExit) as ended:
        (main if name == "hexsim" else snpe_main)()
    assert ended.value.code == 2
    sentence = "hexsim runs on Linux; on Windows, use it inside WSL"
    assert capsys.readouterr().err == f"{name}: {sentence}\n"


NOT_TO_REPORT = ("numpy", "onnx", "simpy", "pydantic", "rich", "hexsim.dlc", "hexsim.deployment")
"""What no mistake in a command line needs, nor any help."""
NOT_TO_READ = ("numba", "onnxruntime", "scipy", "dask", "simpy", "hexsim.int8", "hexsim.hvx")
"""What a list of layers does not need."""
NOT_TO_LIST = ("numpy", "onnx", "simpy", "hexsim.studies", "hexsim.simulation")
"""What a page of constants does not need."""

LOADED = """
import sys
from hexsim.cli import main
sys.argv = ["hexsim", *{words!r}.split()]
try:
    main()
except SystemExit as ended:
    print("code", ended.code)
print("loaded", *(name for name in {names!r} if name in sys.modules))
"""


@pytest.mark.parametrize(
    ("words", "code", "names"),
    [
        (
            "bench squeezenet1_1 --chip sd855 --runtime dsp --timing-only",
            "0",
            ("numba", "hexsim.int8"),
        ),
        (
            "bench squeezenet1_1 --runtime htp --timing-only",
            "0",
            ("hexsim.hvx.kernels", "hexsim.q6_scheduler"),
        ),
        ("profile squeezenet1_1 --chip sd855", "0", ("numba", "hexsim.int8")),
        ("--help", "0", (*NOT_TO_REPORT, "hexsim.cli.bench")),
        ("bench squeezenet1_1 --chip sd85", "2", (*NOT_TO_REPORT, "hexsim.cli.run")),
        ("run squeezenet1_1 --chip sd85 -o out", "2", NOT_TO_REPORT),
        ("decide squeezenet1_1 --chips sd855,sd85", "2", NOT_TO_REPORT),
        ("profile --chip sd835 squeezenet1_1 --stack snpe-1", "2", NOT_TO_REPORT),
        ("validate --chip sd835 nothing.onnx", "2", NOT_TO_REPORT),
        ("info squeezenet", "2", NOT_TO_REPORT),
        ("quantize squeezenet1_1", "2", ("numpy", "onnx", "hexsim.dlc")),
        ("chips show sd855", "0", NOT_TO_LIST),
        ("overview --chip sd835 squeezenet1_1 --htlm page.html", "2", NOT_TO_REPORT),
        ("info squeezenet1_1", "0", NOT_TO_READ),
    ],
)
def test_a_command_loads_what_it_needs_alone(words: str, code: str, names: tuple[str, ...]) -> None:
    """Kernels are not loaded for times; a wrong name or option is told before anything heavy."""
    program = LOADED.format(words=words, names=names)
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    *_, ended, loaded = done.stdout.splitlines()
    assert (ended, loaded) == (f"code {code}", "loaded"), done.stderr


@pytest.mark.parametrize(
    ("words", "remark"),
    [
        ("kernel max_pool --shape 8x8x32:2x2:s2 --chip sd835", ""),
        (
            "profile conv1x1_1to1",
            "chip: sd8gen4, because no --chip is given; hexsim chips list names the others\n",
        ),
        ("info squeezenet1_1", ""),
    ],
)
def test_a_chip_that_is_assumed_is_said(
    words: str,
    remark: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(sys, "argv", ["hexsim", *words.split()])
    with pytest.raises(SystemExit) as ended:
        main()
    assert (ended.value.code or 0, capsys.readouterr().err) == (0, remark)
