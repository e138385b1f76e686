import subprocess
import sys

import pytest

from hexsim.cli import main
from hexsim.snpe import main as snpe_main


@pytest.mark.parametrize("name", ["hexsim", "snpe-net-run"])
def test_another_system_is_told(
    name: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")
    monkeypatch.setattr(sys, "argv", [name, "--version"])
    with pytest.raises(SystemExit) as ended:
        (main if name == "hexsim" else snpe_main)()
    assert ended.value.code == 2
    sentence = "hexsim runs on Linux; on Windows, use it inside WSL"
    assert capsys.readouterr().err == f"{name}: {sentence}\n"


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
        ("bench squeezenet1_1 --chip sd855 --timing-only", "0", ("numba", "hexsim.int8")),
        ("profile squeezenet1_1 --chip sd855", "0", ("numba", "hexsim.int8")),
        ("bench squeezenet1_1 --chip sd85", "2", ("numba", "onnx", "simpy", "hexsim.deployment")),
        ("run squeezenet1_1 --chip sd85 -o out", "2", ("numba", "onnx", "hexsim.deployment")),
    ],
)
def test_a_command_loads_what_it_needs_alone(words: str, code: str, names: tuple[str, ...]) -> None:
    """Kernels are not loaded for times; an unknown chip is told before the simulator is."""
    program = LOADED.format(words=words, names=names)
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    *_, ended, loaded = done.stdout.splitlines()
    assert (ended, loaded) == (f"code {code}", "loaded"), done.stderr
