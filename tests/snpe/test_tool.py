"""Every tool: its table holds together, and its lines do what those of our commands do."""

import re
import subprocess
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest
import typer

from benchmarks.pages import ROOT
from hexsim.cli._files import with_files
from hexsim.snpe.option import Effect
from hexsim.snpe.tool import TOOLS
from tests.cli.conftest import Done

Tool = Callable[[str], Done]
OWN_LINES = (
    "all these inputs calibrated",
    *("INFO - INFO_", "[INFO] InitializeStderr", "[INFO] Writing ", "[INFO] Setting activation"),
    *("[INFO] bw: ", "[INFO] DebugLog", "wrote t.dlc"),
)
"""Beginnings of what the tools alone print, as SNPE's do, and of what our commands alone print."""


def effects(name: str) -> list[Effect]:
    listed: list[Effect] = []
    for option in TOOLS[name].options:
        effect = option.effect
        listed += [effect] if isinstance(effect, Effect) else dict.fromkeys(effect.values())
    return listed


@pytest.mark.parametrize("name", TOOLS)
def test_every_option_of_ours_that_a_table_names_exists(name: str) -> None:
    app = typer.Typer()
    app.command()(with_files(TOOLS[name].command))
    command = typer.main.get_command(app)
    ours = {
        opt for parameter in command.params for opt in (*parameter.opts, *parameter.secondary_opts)
    }
    named = {e.words[0] for e in effects(name) if e.words}
    assert named <= ours


@pytest.mark.parametrize("name", TOOLS)
def test_no_name_stands_for_two_options(name: str) -> None:
    names = [name for option in TOOLS[name].options for name in option.names]
    assert len(names) == len(set(names))
    assert not {"--help", "-h", "--version"} & set(names)


@pytest.mark.parametrize("name", TOOLS)
def test_help_tells_every_option_and_what_is_refused(name: str, tool: Tool) -> None:
    code, out, err = tool(f"{name} --help")
    assert (code, err) == (0, "")
    assert out.startswith(f"usage: {name} [options]\n")
    in_one_line = "".join(out.split())
    for option in TOOLS[name].options:
        assert "".join(option.form.split()) in in_one_line
    assert out.count("Refused:") == sum(e.kind == "refused" for e in effects(name))
    assert max(map(len, out.splitlines())) < 160


@pytest.mark.parametrize("name", TOOLS)
def test_version(name: str, tool: Tool) -> None:
    code, out, err = tool(f"{name} --version")
    assert (code, err) == (0, "")
    assert "hexsim v" in out


def test_a_tool_that_there_is_not_says_what_to_do_instead(tool: Tool) -> None:
    line = "snpe-caffe2-to-dlc --predict_net p.pb --exec_net e.pb --output_path m.dlc"
    for words in (line, "snpe-caffe2-to-dlc"):
        code, out, err = tool(words)
        assert (code, out, err.count("\n")) == (2, "", 1)
        assert "export the network to ONNX, and take snpe-onnx-to-dlc" in err
    assert "export the network to ONNX" in " ".join(tool("snpe-caffe2-to-dlc -h").out.split())


@pytest.mark.parametrize(
    ("name", "instead"),
    [
        ("snpe-dlc-reorder", "--hta_partitions"),
        ("snpe-udo-package-generator", "in a Python file (--udl)"),
        ("snpe-platform-validator", "hexsim chips show CHIP"),
        ("snpe-architecture-checker", "hexsim profile --roofline"),
        ("snpe-quantization-checker", "hexsim validate --explain"),
    ],
)
def test_tools_without_a_meaning_here_say_what_to_do(name: str, instead: str, tool: Tool) -> None:
    code, out, err = tool(f"{name} --input_dlc m.dlc")
    assert (code, out, instead in err) == (2, "", True)


def test_the_default_of_cpu_fallback_is_said(tool: Tool) -> None:
    for name in ("snpe-net-run", "snpe-throughput-net-run", "snpe-parallel-run"):
        words = " ".join(tool(f"{name} --help").out.split())
        assert "Off unless given" in words
        assert "has it on (setCPUFallbackMode; documented from 1.23 on)" in words


@pytest.mark.parametrize("name", [name for name in TOOLS if not TOOLS[name].refusal])
def test_what_is_missing_and_what_is_unknown_is_one_sentence(name: str, tool: Tool) -> None:
    code, out, err = tool(f"{name} --contaner x")
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert err.startswith(f"{name}: unknown option '--contaner'; ")
    required = [option.name for option in TOOLS[name].options if option.is_required]
    code, out, err = tool(name)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert f"{required[0]} is missing" in err


def test_every_tool_is_installed() -> None:
    scripts = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["scripts"]
    assert scripts.pop("hexsim") == "hexsim.cli:main"
    assert scripts == dict.fromkeys(TOOLS, "hexsim.snpe:main")


def test_a_checkout_runs_them_too(tmp_path: Path) -> None:
    def run(*words: str) -> subprocess.CompletedProcess[str]:
        line = (sys.executable, "-m", "hexsim.snpe", *words)
        return subprocess.run(line, cwd=ROOT, capture_output=True, text=True, check=False)

    assert run("snpe-dlc-info", "--version").stdout.startswith("hexsim v")
    assert (run("snpe-dlc-inof").returncode, "known: " in run("snpe-dlc-inof").stderr) == (2, True)


@pytest.mark.usefixtures("files")
@pytest.mark.parametrize(
    ("line", "ours"),
    [
        (
            "snpe-onnx-to-dlc -i m.onnx -o t.dlc -d x 1,3,4,4 --out_node y -t x image "
            "-e x rgb --input_dtype x float32 --model_version v1",
            "convert m.onnx -o o.dlc --input-dim x 1,3,4,4 --out-name y --input-type x image "
            "--input-encoding x rgb --model-version v1",
        ),
        (
            "snpe-dlc-quantize --input_dlc m.dlc --input_list list.txt --output_dlc t.dlc "
            "--use_enhanced_quantizer weights --bias_bitwidth 32 --optimizations cle "
            "--optimizations bc",
            "quantize m.dlc --input-list list.txt -o o.dlc --use-enhanced-quantizer weights "
            "--bias-bitwidth 32 --optimizations cle --optimizations bc",
        ),
        (
            "snpe-dlc-quantize --input_dlc=m.dlc --input_list=list.txt --output_dlc=t.dlc "
            "--use_enhanced_quantizer --use_symmetric_quantize_weights --act_bitwidth 8 "
            "--weights_bitwidth 8 --enable_hta --hta_partitions 0-3 --chip sd855",
            "quantize m.dlc --input-list list.txt -o o.dlc --use-enhanced-quantizer "
            "--use-symmetric-quantize-weights --act-bitwidth 8 --weights-bitwidth 8 "
            "--enable-hta --hta-partitions 0-3 --chip sd855",
        ),
        (
            "snpe-dlc-quantize --input_dlc m.dlc --input_list list.txt --output_dlc t.dlc "
            "--enable_hta --enable_partitions sm8150:0-3",
            "quantize m.dlc --input-list list.txt -o o.dlc --enable-hta "
            "--hta-partitions sm8150:0-3",
        ),
        (
            "snpe-dlc-quant --input_dlc m.dlc --input_list list.txt --output_dlc t.dlc "
            "--use_per_channel_quantization --weights_bitwidth 4 --pack_4_bit_weights",
            "quantize m.dlc --input_list list.txt -o o.dlc --axis_quant --weights_bitwidth 4 "
            "--pack_4_bit_weights --minimum-range 0.0001",
        ),
        (
            "snpe-dlc-quant --input_dlc m.dlc --input_list list.txt --output_dlc t.dlc "
            "--act_quantizer enhanced --param_quantizer symmetric --algorithms cle",
            "quantize m.dlc --input-list list.txt -o o.dlc --act-quantizer-calibration sqnr "
            "--use-symmetric-quantize-weights --optimizations cle --minimum-range 0.0001",
        ),
        (
            "snpe-dlc-quant --input_dlc m.dlc --input_list list.txt --output_dlc t.dlc "
            "--act_quantizer_calibration percentile --percentile_calibration_value 99 "
            "--param_quantizer_calibration mse --act_quantizer_schema symmetric "
            "--param_quantizer_schema unsignedsymmetric",
            "quantize m.dlc --input-list list.txt -o o.dlc --act-quantizer-calibration percentile "
            "--percentile-calibration-value 99 --param-quantizer-calibration mse "
            "--act-quantizer-schema symmetric --param-quantizer-schema unsignedsymmetric "
            "--minimum-range 0.0001",
        ),
        ("snpe-dlc-info -i q.dlc -s t.csv", "info q.dlc --layout snpe --csv o.csv"),
        ("snpe-dlc-viewer -i q.dlc -s t.html", "view q.dlc -o o.html"),
        ("snpe-dlc-diff -i2 q.dlc -i1 m.dlc -s t.csv", "diff m.dlc q.dlc --csv o.csv"),
        (
            "snpe-dlc-diff -i1 m.dlc -i2 q.dlc -p -w --save t.csv",
            "diff m.dlc q.dlc --show parameters --show weights --csv o.csv",
        ),
    ],
)
def test_files_and_reports_are_those_of_our_commands(
    line: str, ours: str, tool: Tool, command: Tool, tmp_path: Path
) -> None:
    done = tool(line)
    theirs = command(ours)
    assert (done.code, theirs.code) == (0, 0), (done.err, theirs.err)
    their_log, our_log = (
        [line for line in log.splitlines() if not line.startswith(OWN_LINES)]
        for log in (done.out + done.err, (theirs.out + theirs.err).replace(" o.", " t."))
    )
    our_log = [line.replace("--enable-hta", "--enable_hta") for line in our_log]
    levels = {"[INFO] ": "", "INFO - ": "", "[WARNING] ": "warning: ", "WARNING - ": "warning: "}
    for level, ours_says in levels.items():
        their_log = [re.sub(f"^{re.escape(level)}", ours_says, line) for line in their_log]
    assert their_log == our_log
    (mine,) = tmp_path.glob("t.*")
    assert mine.read_bytes() == mine.with_stem("o").read_bytes()


@pytest.mark.usefixtures("files")
def test_what_changes_nothing_is_said_once(tool: Tool, tmp_path: Path) -> None:
    code, _, err = tool(
        "snpe-dlc-quantize --input_dlc m.dlc --input_list list.txt --enable_htp "
        "--htp_socs sm8350 --verbose --debug=3 --enable_htp"
    )
    assert code == 0
    assert (tmp_path / "m_quantized.dlc").exists()
    lines = [line for line in err.splitlines() if "changes nothing" in line]
    assert [line.split(" changes")[0] for line in lines] == [
        "[WARNING] --enable_htp",
        "[WARNING] --htp_socs",
        "[WARNING] --verbose",
        "[WARNING] --debug",
    ]


@pytest.mark.usefixtures("files")
def test_a_percentile_means_nothing_to_other_calibrations(tool: Tool, tmp_path: Path) -> None:
    """Command lines that state every default have it."""
    line = "snpe-dlc-quant --input_dlc m.dlc --input_list list.txt --act_quantizer_calibration"
    code, _, err = tool(f"{line} mse --percentile_calibration_value 90 --output_dlc a.dlc")
    assert (code, "percentile_calibration_value changes nothing without --act" in err) == (0, True)
    assert tool(f"{line} mse --output_dlc b.dlc").code == 0
    assert (tmp_path / "a.dlc").read_bytes() == (tmp_path / "b.dlc").read_bytes()
    code, _, err = tool(f"{line} percentile --percentile_calibration_value 90 --output_dlc c.dlc")
    assert (code, "changes nothing" in err) == (0, False)


@pytest.mark.usefixtures("files")
def test_a_recipe_with_all_three_modes(tool: Tool, tmp_path: Path) -> None:
    """Releases of 2.x accept it with a warning; the range of a step per channel is searched."""
    line = "snpe-dlc-quantize --input_dlc m.dlc --input_list list.txt --use_enhanced_quantizer"
    both = f"{line} --axis_quant"
    code, _, err = tool(f"{both} --use_adjusted_weights_quantizer --output_dlc three.dlc")
    assert code == 0
    assert err.splitlines()[0] == (
        "[WARNING] --use_adjusted_weights_quantizer changes nothing beside "
        "--use_enhanced_quantizer both, --axis_quant"
    )
    assert tool(f"{both} --output_dlc two.dlc").code == 0
    assert (tmp_path / "three.dlc").read_bytes() == (tmp_path / "two.dlc").read_bytes()
    code, _, err = tool(f"{line} activations --use_adjusted_weights_quantizer")
    assert (code, "changes nothing" in err) == (0, False), "each has tensors of its own"


@pytest.mark.usefixtures("files")
@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ("snpe-onnx-to-dlc -i none.onnx", "none.onnx"),
        ("snpe-onnx-to-dlc -i m.onnx -d x 1,b", "--input_dim 'x 1,b' is not of the form"),
        ("snpe-onnx-to-dlc -i m.onnx -t x picture", "unknown value of -t 'picture'"),
        ("snpe-onnx-to-dlc -i m.onnx --keep_quant_nodes", "--keep_quant_nodes: the ranges of"),
        ("snpe-onnx-to-dlc -i m.onnx -o m.onnx", "'m.onnx' would overwrite an input"),
        (
            "snpe-dlc-quantize --input_dlc m.dlc",
            "inputs to calibrate on are missing; give --input_list",
        ),
        (
            "snpe-dlc-quantize --input_dlc m.dlc --input_list list.txt --float_bitwidth 16",
            "--float_bitwidth is about layers that overrides keep float; give --override_params",
        ),
        (
            "snpe-dlc-quantize --input_dlc m.dlc --input_list list.txt --hta_partitions 0-3",
            "--hta_partitions says what --enable_hta compiles",
        ),
        (
            "snpe-dlc-quant --input_dlc m.dlc --input_list list.txt --act_quantizer adjusted",
            "--act_quantizer adjusted: the guides describe the adjusted mode for weights only",
        ),
        (
            "snpe-dlc-quant --input_dlc m.dlc --input_list list.txt "
            "--restrict_quantization_steps '-0x80 0x7F'",
            "--restrict_quantization_steps: symmetric codes of 8 bits are",
        ),
        ("snpe-onnx-to-dlc -i m.onnx --preserve_io layout", "--preserve_io: raw files of inputs"),
        ("snpe-onnx-to-dlc -i m.onnx --define_symbol b 1", "unknown symbol of 'm.onnx' 'b'"),
        ("snpe-onnx-to-dlc -i m.onnx --define_symbol b x", "--define_symbol 'b x' is not of the"),
        ("snpe-dlc-diff -i1 m.dlc -i2 q.dlc -i", "--diff_by_id: layers are paired"),
    ],
)
def test_refusals_use_the_names_of_the_tool(line: str, sentence: str, tool: Tool) -> None:
    code, out, err = tool(line)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert err.startswith(f"{line.split()[0]}: ")
    assert sentence in err


@pytest.mark.usefixtures("files")
def test_the_environment_names_the_chip(tool: Tool, monkeypatch: pytest.MonkeyPatch) -> None:
    line = "snpe-dlc-quantize --input_dlc m.dlc --input_list list.txt --enable_hta"
    monkeypatch.setenv("HEXSIM_CHIP", "sd536")
    code, _, err = tool(line)
    assert (code, "sd536" in err) == (2, True)
    assert tool(f"{line} --chip sd855").code == 0, "what is typed counts"


@pytest.mark.usefixtures("files")
def test_a_difference_is_shown_as_far_as_asked(command: Tool) -> None:
    code, out, _ = command("diff m.dlc q.dlc --show dims")
    assert (code, out) == (0, "m.dlc and q.dlc do not differ\n")
    code, out, _ = command("diff m.dlc q.dlc --show parameters")
    assert (code, out.startswith("Parameters\n"), "Weights" in out) == (0, True, False)
    code, _, err = command("diff m.dlc q.dlc --show sizes")
    assert (code, "unknown --show 'sizes'" in err) == (2, True)


def test_types_of_inputs(tool: Tool) -> None:
    """The file says them, but a TorchScript module does not; elsewhere nothing hangs on them."""
    script = "snpe-pytorch-to-dlc -i none.pt -d x 1,3"
    code, _, err = tool(f"{script} --input_dtype x int64")
    assert code == 2
    assert "--input_dtype int64: a TorchScript module does not say" in err
    assert "TorchScript" not in tool(f"{script} --input_dtype x float32")[2]
    _, _, err = tool("snpe-onnx-to-dlc -i none.onnx --input_dtype x int64")
    assert "the file says what numbers its inputs hold" in err


def test_default_graphs_of_a_saved_model_may_be_named(tool: Tool) -> None:
    words = "snpe-tensorflow-to-dlc -i none -d x 1,3 --out_node y --saved_model_tag"
    given = f"{words} serve --saved_model_signature_key serving_default"
    assert "'none' is neither a file" in tool(given)[2]
    assert "unknown value of --saved_model_tag 'train'" in tool(f"{words} train")[2]
