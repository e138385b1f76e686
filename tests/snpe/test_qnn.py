"""The tools of QAIRT and QNN, and graph preparation, are thin fronts of the same functions."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest

import hexsim
from hexsim import dlc, simulate
from hexsim.deployment.prepared_graph import prepared_graph
from hexsim.htp.compiler import compile_graph
from hexsim.reports.inference import prepared_lines
from hexsim.texts.figures import figure
from tests.accuracy import culprits
from tests.cli.conftest import Done
from tests.deployed import deployed

Tool = Callable[[str], Done]
HTP = "--backend /opt/qairt/lib/libQnnHtp.so"

pytestmark = pytest.mark.usefixtures("files")


def raws(folder: Path) -> dict[str, bytes]:
    return {p.relative_to(folder).as_posix(): p.read_bytes() for p in folder.rglob("*.raw")}


@pytest.mark.parametrize(
    ("line", "theirs"),
    [
        (
            "qairt-converter --input_network m.onnx --output_path o.dlc "
            "--source_model_input_shape x 1,3,4,4 --out_tensor_node y --float_bitwidth 32 "
            "--source_model_input_datatype x float32 --export_format DLC_DEFAULT",
            "snpe-onnx-to-dlc -i m.onnx -o t.dlc -d x 1,3,4,4 --out_node y",
        ),
        (
            "qnn-onnx-converter --input_network m.onnx -o o.dlc --input_dim x 1,3,4,4 "
            "--out_node y --input_dtype x float32",
            "snpe-onnx-to-dlc -i m.onnx -o t.dlc -d x 1,3,4,4 --out_node y",
        ),
        (
            "qairt-quantizer -i m.dlc -l list.txt -o o.dlc --act_bitwidth 16 --weights_bitwidth 8 "
            "--use_per_channel_quantization --act_quantizer_calibration sqnr --algorithms cle",
            "snpe-dlc-quant --input_dlc m.dlc --input_list list.txt --output_dlc t.dlc "
            "--act_bitwidth 16 --weights_bitwidth 8 --axis_quant --act_quantizer enhanced "
            "--optimizations cle",
        ),
        (
            "qairt-converter -i m.onnx -o o.dlc --target_backend HTP --target_soc_model SM8650 "
            "--onnx_skip_simplification --preserve_io_datatype x --copyright_file none "
            "--desired_input_color_encoding x rgb",
            "snpe-onnx-to-dlc -i m.onnx -o t.dlc -e x rgb",
        ),
    ],
)
def test_files_are_those_of_the_snpe_tools(
    line: str, theirs: str, tool: Tool, tmp_path: Path
) -> None:
    for typed in (line, theirs):
        code, _, err = tool(typed)
        assert code == 0, err
    assert (tmp_path / "o.dlc").read_bytes() == (tmp_path / "t.dlc").read_bytes()


def test_from_context_binary_to_profile(tool: Tool, tmp_path: Path) -> None:
    (tmp_path / "c.json").write_text("{}")
    code, out, err = tool(
        f"qnn-context-binary-generator --dlc_path q.dlc {HTP} --binary_file ctx --output_dir bin "
        "--config_file c.json --log_level info --chip sd8gen3"
    )
    assert (code, out.startswith("sd8gen3 (htp): 5 operations, VTCM of 8 MB, ")) == (0, True), err
    (graph,) = hexsim.load(tmp_path / "bin/ctx.bin").graphs
    assert str(graph) == "htp of sd8gen3 with qnn-2.43 and VTCM of 8 MB"
    code, _, err = tool(
        f"qnn-net-run --retrieve_context bin/ctx.bin {HTP} --input_list list.txt --output_dir qnn "
        "--perf_profile burst --profiling_level detailed --input_data_type float "
        "--output_data_type float --num_inferences 10 --duration 3 --keep_num_outputs 1 "
        "--shared_buffer --synchronous --system_library x --log_level info --config_file c.json "
        "--chip sd8gen3"
    )
    assert code == 0, err
    line = "--container bin/ctx.bin --input_list list.txt --use_dsp --chip sd8gen3"
    line += " --perf_profile burst"
    assert tool(f"snpe-net-run {line} --output_dir snpe").code == 0
    assert raws(tmp_path / "qnn") == raws(tmp_path / "snpe") != {}
    logs = [tmp_path / folder / "SNPEDiag_0.log" for folder in ("qnn", "snpe")]
    assert logs[0].read_text().split("\n")[1:] == logs[1].read_text().split("\n")[1:]
    code, out, _ = tool(
        "qnn-profile-viewer --input_log qnn/SNPEDiag_0.log --reader x --output c.csv"
    )
    assert (code, "Total Inference Time: " in out, out.endswith("us : DSP\n")) == (0, True, True)
    assert tool("snpe-diagview --input_log snpe/SNPEDiag_0.log --output d.csv").code == 0
    assert (tmp_path / "c.csv").read_text() == (tmp_path / "d.csv").read_text()


@pytest.mark.parametrize(
    ("library", "runtime"),
    [("libQnnCpu.so", "cpu"), ("a/libQnnGpu.so", "gpu"), ("/b/libQnnDsp.so", "dsp")],
)
def test_a_library_says_the_runtime(
    library: str, runtime: str, tool: Tool, command: Tool, tmp_path: Path
) -> None:
    line = f"qnn-net-run --dlc_path q.dlc --backend {library} --input_list list.txt --debug"
    code, _, err = tool(f"{line} --chip sd855 --output_dir theirs")
    assert code == 0, err
    ours = f"run q.dlc --input-list list.txt --runtime {runtime} --chip sd855 --debug -o ours"
    assert command(ours).code == 0
    assert raws(tmp_path / "theirs") == raws(tmp_path / "ours") != {}


def test_graph_preparation_prints_the_compiled_graph(tool: Tool, tmp_path: Path) -> None:
    """Weights of 1 x 1 convolutions of 8 channels are padded to tiles of 32 x 32."""
    line = "snpe-dlc-graph-prepare --input_dlc q.dlc --htp_socs sm8650,sm8550 --vtcm_override 4"
    code, out, err = tool(f"{line} --optimization_level 3 --verbose")
    assert (code, len(out.splitlines())) == (0, 8)
    assert "the file says for what its graph is prepared" in err
    graphs = hexsim.load(tmp_path / "q_cached.dlc").graphs
    assert [(each.chip, each.vtcm_bytes) for each in graphs] == [
        ("sd8gen3", 4 << 20),
        ("sd8gen2", 4 << 20),
    ]
    deployment = deployed(culprits.quantized("outlier"), "htp", "sd8gen3")
    (subnet,) = deployment.plan.subnets
    operations = compile_graph(subnet.calls, deployment.plan.network, 4 << 20)
    weights = sum(operation.cost.weight_bytes for operation in operations) / 1024
    assert out.splitlines()[0] == (
        f"sd8gen3 (htp): 5 operations, VTCM of 4 MB, weights of {figure(weights)} KiB in its "
        "layout, 0 B spilled and filled"
    )
    prepared = prepared_graph(deployment.plan, deployment.memory(), deployment.platform.stack)
    assert prepared is not None
    assert out.splitlines()[1:4] == prepared_lines(prepared).splitlines()
    assert tool("snpe-dlc-graph-prepare --input_dlc m.dlc --chip sd8gen3").out.startswith(
        "sd8gen3 (htp_fp16): "
    )


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ("snpe-dlc-graph-prepare --input_dlc q.dlc --htp_socs sm8150", "has no tensor processor"),
        (
            "snpe-dlc-graph-prepare --input_dlc q.dlc --chip sd8gen3 --vtcm_override 16",
            "16 MB of VTCM for a graph: sd8gen3 has 8 MB in all, and a graph needs 0.25 MB or more",
        ),
        (
            f"qnn-net-run --dlc_path q.dlc {HTP} --input_list list.txt --model libm.so",
            "--model libm.so: a library of a network is code for a device",
        ),
        (
            "qnn-net-run --dlc_path q.dlc --backend libQnnNpu.so --input_list list.txt",
            "unknown library of --backend 'libQnnNpu.so'",
        ),
        (
            f"qnn-context-binary-generator --dlc_path q.dlc {HTP} --binary_file a/b --chip sd8gen3",
            "--binary_file 'a/b' is a name without folders",
        ),
        ("qnn-onnx-converter -i m.onnx --input_list list.txt", "quantise it with qairt-quantizer"),
        ("qairt-converter -i m.onnx --io_config c.yaml", "stored order, an image NHWC"),
        ("qairt-converter -i m.onnx --float_bitwidth 8", "--float_bitwidth"),
    ],
)
def test_refusals(line: str, sentence: str, tool: Tool) -> None:
    code, out, err = tool(line)
    assert (code, out) == (2, "")
    assert err.splitlines()[-1].startswith(f"{line.split()[0]}: ")
    assert sentence in err.splitlines()[-1]


def test_the_outputs_of_a_prepared_graph_are_those_that_are_named(
    tool: Tool, tmp_path: Path
) -> None:
    """Layers behind them are left out; values are those that the whole network has there."""
    whole = dlc.read(tmp_path / "q.dlc").model
    inner = whole.network.layers[1].outputs[0]
    (tmp_path / "named.txt").write_text(f"%{inner}\n0.raw\n")
    line = "snpe-dlc-graph-prepare --input_dlc q.dlc --htp_archs v75 --use_float_io"
    for chosen in (f"--set_output_tensors={inner}", "--input_list named.txt"):
        code, out, err = tool(f"{line} {chosen} --output_dlc cut.dlc")
        assert (code, out.startswith("sd8gen3 (htp): ")) == (0, True), err
        cut = dlc.read(tmp_path / "cut.dlc").model
        assert cut.network.outputs == (inner,)
        assert cut.network.layers == whole.network.layers[:2]
        assert cut.activations == {n: whole.activations[n] for n in cut.network.tensors}
    run = "--input_list list.txt --use_dsp --chip sd8gen3"
    assert tool(f"snpe-net-run --container cut.dlc {run} --output_dir cut").code == 0
    named = f"--set_output_tensors {inner} --output_dir whole"
    assert tool(f"snpe-net-run --container q.dlc {run} {named}").code == 0
    assert raws(tmp_path / "cut") == raws(tmp_path / "whole") != {}
    code, _, err = tool(f"{line} --set_output_tensors nothing --output_dlc other.dlc")
    assert (code, "nothing" in err, (tmp_path / "other.dlc").exists()) == (2, True, False)
    code, _, err = tool("snpe-dlc-graph-prepare --input_dlc q.dlc --htp_archs v66")
    assert (code, "architecture of a tensor processor" in err) == (2, True)


def test_the_library_of_dlc_files_may_be_named(tool: Tool, tmp_path: Path) -> None:
    library = "--model /opt/qairt/lib/libQnnModelDlc.so"
    context = f"qnn-context-binary-generator --dlc_path q.dlc {HTP} {library} --chip sd8gen3"
    assert tool(f"{context} --binary_file ctx").code == 0
    assert (tmp_path / "output/ctx.bin").is_file()
    run = "qnn-net-run --dlc_path q.dlc --backend libQnnCpu.so --input_list list.txt"
    assert tool(f"{run} {library}").code == 0


@pytest.mark.parametrize(
    ("line", "refusal"),
    [
        ("qnn-onnx-converter --input_layout x NCHW", ""),
        ("qnn-onnx-converter --input_layout x NHWC", "images are NCHW; leave it out"),
        ("qairt-converter --source_model_input_layout x NCHW --desired_input_layout x NHWC", ""),
        ("qairt-converter --source_model_input_layout x NF", ""),
        ("qairt-converter --desired_output_layout y NCHW", "images are NHWC; leave it out"),
    ],
)
def test_a_layout_may_say_what_is_assumed(line: str, refusal: str, tool: Tool) -> None:
    code, _, err = tool(f"{line} -i m.onnx -o o.dlc")
    assert (code, refusal in err) == (2 if refusal else 0, True), err


def configured(settings: Any, config: Any = None) -> str:
    """Write `settings` of a backend and a config that names them; return the option."""
    Path("htp.json").write_text(json.dumps(settings))
    named = {"shared_library_path": "libQnnHtpExtensions.so", "config_file_path": "htp.json"}
    Path("c.json").write_text(json.dumps(config or {"backend_extensions": named}))
    return "--config_file c.json"


def test_a_config_limits_the_vtcm_of_a_graph(
    tool: Tool, onnx_model: Callable[..., onnx.ModelProto]
) -> None:
    """The weights of a layer, 512 KiB, do not fit a quarter of a MB beside those of the next."""
    weights = np.full((512, 512, 1, 1), 0.01, np.float32)
    nodes = [onnx.helper.make_node("Conv", [x, "w"], [y]) for x, y in (("x", "t"), ("t", "y"))]
    onnx.save(onnx_model(nodes, {"x": (1, 512, 8, 8)}, ["y"], {"w": weights}), "big.onnx")
    np.zeros((1, 8, 8, 512), np.float32).tofile("big.raw")
    Path("big.txt").write_text("big.raw\n")
    assert tool("snpe-onnx-to-dlc -i big.onnx -o big.dlc").code == 0
    run = f"qnn-net-run --dlc_path big.dlc {HTP} --input_list big.txt --chip sd8gen2"
    times = []
    for size in (0, 0.25):
        option = configured({"graphs": [{"graph_names": ["any"], "vtcm_mb": size}]})
        code, _, err = tool(f"{run} {option}")
        assert (code, "changes nothing" in err) == (0, False), err
        total = tool("qnn-profile-viewer --input_log output/SNPEDiag_0.log").out
        times.append(int(re.findall(r"Total Inference Time: (\d+) us", total)[0]))
        timing = simulate(
            "big.dlc",
            runtime="htp_fp16",
            chip="sd8gen2",
            perf_profile="default",
            vtcm_mb=size or None,
        )
        assert times[-1] == round(timing.total_us)
    assert times[0] < times[1]


def test_a_config_of_an_early_release_prepares_a_graph(tool: Tool) -> None:
    """Its graphs are one object; other settings change nothing, which is said."""
    line = f"qnn-context-binary-generator --dlc_path q.dlc {HTP} --binary_file ctx"
    option = configured({"graphs": {"vtcm_mb": 2, "O": 3}, "devices": [{"dsp_arch": "v75"}]})
    code, out, err = tool(f"{line} --chip sd8gen3 {option}")
    assert (code, "5 operations, VTCM of 2 MB, " in out) == (0, True), err
    assert "devices, O of --config_file: changes nothing" in err
    code, _, err = tool(f"{line} --chip sd855 {option}")
    assert (code, "sd855 has no tensor processor" in err) == (2, True)
    Path("c.json").rename("ctx.bin")
    code, _, err = tool(f"{line} --chip sd8gen3 --output_dir . --config_file ctx.bin")
    assert (code, "would overwrite an input" in err) == (2, True)


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"graphs": {"vtcm_mb": True}}, "'htp.json': 'vtcm_mb' is no number of MB"),
        ({"graphs": [{"vtcm_mb": 16}]}, "16 MB of VTCM for a graph: sd8gen3 has 8 MB in all"),
        ({"graphs": [{"vtcm_mb": 4}, {"vtcm_mb": 2}]}, "give one vtcm_mb, not 4, 2"),
        ({"graphs": [4]}, "a graph of 'graphs' is no object"),
        ([], "config 'htp.json' is no object"),
    ],
)
def test_settings_that_are_wrong(settings: Any, sentence: str, tool: Tool) -> None:
    run = f"qnn-net-run --dlc_path q.dlc {HTP} --input_list list.txt --chip sd8gen3"
    code, out, err = tool(f"{run} {configured(settings)}")
    assert (code, out, sentence in err.splitlines()[-1]) == (2, "", True), err


@pytest.mark.parametrize(
    ("config", "sentence"),
    [
        ({"graphs": [{"vtcm_mb": 4}]}, "'config_file_path' of 'backend_extensions' names no file"),
        ({"backend_extensions": {"config_file_path": "no.json"}}, "cannot read config 'no.json'"),
        (
            {"backend_extensions": {"config_file_path": 3}},
            "'config_file_path' of 'backend_extensions' names no file",
        ),
        ({"backend_extensions": []}, "'backend_extensions' is no object"),
    ],
)
def test_configs_that_are_wrong(config: Any, sentence: str, tool: Tool) -> None:
    run = f"qnn-net-run --dlc_path q.dlc {HTP} --input_list list.txt --chip sd8gen3"
    code, out, err = tool(f"{run} {configured({}, config)}")
    assert (code, out, sentence in err.splitlines()[-1]) == (2, "", True), err
