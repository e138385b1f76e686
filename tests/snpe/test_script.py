"""A script of SNPE's tools, from an ONNX file to figures, and what it leaves behind."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import onnx
import pytest

from hexsim.snpe.option import Effect
from hexsim.snpe.tool import TOOLS
from tests import own_layers
from tests.cli.conftest import Done
from tests.frameworks.caffe.made import caffemodel, layer, net, stored

Tool = Callable[[str], Done]

CONVERT = """
snpe-onnx-to-dlc --input_network net.onnx --output_path net.dlc --input_dim x 1,3,8,8
    --no_simplification --float_bitwidth 32
    --out_node y --input_type x image --input_dtype x float32 --input_encoding x bgr
    --quantization_overrides overrides.json --model_version 1 --copyright_file net.txt
    --validation_target dsp snapdragon_835 --strict --debug --disable_batchnorm_folding
    --keep_int64_inputs --squash_box_decoder --udl own.py ENERGY
snpe-onnx-to-dlc -i net.onnx -o dry.dlc --dry_run
snpe-onnx-to-dlc -i symbolic.onnx -o symbolic.dlc --define_symbol height 8 --input_layout x NCHW
snpe-caffe-to-dlc -i net.prototxt -b weights.caffemodel -o caffe.dlc -d x 1,3,8,8 --out_node y
    --input_layout x NCHW -t x image --input_dtype x float32 -e x bgr
    --quantization_overrides overrides.json --model_version 1 --copyright_file net.txt
    --validation_target dsp snapdragon_835 --strict --debug
    --disable_batchnorm_folding --keep_int64_inputs --squash_box_decoder --udl own.py ENERGY
"""
QUANTIZE = """
snpe-dlc-quantize --input_dlc net.dlc --input_list list.txt --output_dlc a.dlc
    --act_bitwidth 8 --weights_bitwidth 8 --bias_bitwidth 32 --use_enhanced_quantizer weights
    --optimizations cle --optimizations bc --enable_hta --hta_partitions 1 --chip sd855
    --stack snpe-1.30 --enable_htp --htp_socs sm8350 --overwrite_cache_records --use_float_io
    --buffer_data_type x --verbose --quiet --silent --debug1 --debug2 --debug3 --debug=2
    --log-mask all --log-file l.txt --log-dir . --log-file-include-hostname
    --use_encoding_optimizations --udl own.py ENERGY
snpe-dlc-quantize --input_dlc net.dlc --input_list list.txt --output_dlc b.dlc --bitwidth 8
    --override_params --float_bitwidth 16 --float_bias_bitwidth 16
    --use_symmetric_quantize_weights
snpe-dlc-quant --input_dlc net.dlc --input_list list.txt --output_dlc c.dlc --axis_quant
    --weights_bitwidth 4 --pack_4_bit_weights
snpe-dlc-quant --input_dlc net.dlc --input_list list.txt --use_adjusted_weights_quantizer
    --no_weight_quantization
snpe-dlc-quant --input_dlc net.dlc --input_list list.txt --output_dlc d.dlc --act_quantizer tf
    --param_quantizer enhanced --algorithms cle --ignore_encodings
snpe-dlc-quant --input_dlc net.dlc --input_list list.txt --output_dlc e.dlc
    --act_quantizer_calibration percentile --percentile_calibration_value 99.9
    --param_quantizer_calibration mse --act_quantizer_schema unsignedsymmetric
    --param_quantizer_schema symmetric --use_per_row_quantization
"""
LOOK = """
snpe-dlc-info --input_dlc a.dlc --save info.csv --display_all_encodings --display_memory
    --udl own.py ENERGY
snpe-dlc-viewer --input_dlc a.dlc --save page.html --udl own.py ENERGY
snpe-dlc-diff --input_dlc_one net.dlc --input_dlc_two b.dlc --layers --parameters --dimensions
    --weights --outputs --hta --copyrights --save diff.csv --udl own.py ENERGY
"""
RUN = """
snpe-net-run --container a.dlc --input_list list.txt --use_dsp --perf_profile burst
snpe-diagview --input_log output/SNPEDiag_0.log --output diag.csv --csv_format_version 1
snpe-throughput-net-run --container a.dlc --use_dsp --perf_profile burst --container net.dlc
    --use_gpu --perf_profile balanced --duration 0.01 --enable_cpu_fallback --input_raw 0.raw
    --json throughput.json --storage_dir s --verbose --debug --chip sd845 --stack snpe-1.23
snpe-throughput-net-run --container net.dlc --use_cpu --container net.dlc --use_gpu_fp16
    --container net_quantized.dlc --use_fxp_cpu --container a.dlc --use_aip --iterations 2
    --chip sd855 --udl own.py ENERGY
snpe-throughput-net-run --container a.dlc --use_htp --iterations 2 --chip sd8gen3
    --udl own.py ENERGY
snpe-throughput-net-run --container a.dlc --use_dsp --iterations 2 --userbuffer_float
    --enable_init_cache --platform_options unsigned_pd:ON
snpe-throughput-net-run --container a.dlc --runtime_order aip,dsp,cpu --iterations 2
    --userbuffer_tf8
snpe-parallel-run --container a.dlc --input_list list.txt --output_dir htp --use_htp
    --chip sd8gen3 --udl own.py ENERGY
snpe-parallel-run --container a.dlc --input_list list.txt --output_dir parallel --use_dsp
    --use_gpu --use_aip --use_cpu --use_gpu_fp16 --use_fxp_cpu --runtime_order dsp,cpu
    --cpu_fallback true --perf_profile burst --profiling_level detailed --storage_dir s
    --enable_init_cache --chip sd855 --stack snpe-1.30 --udl own.py ENERGY
"""
EXTRAS = {
    "snpe-tensorflow-to-dlc": b"\x08\x01\x12",
    "snpe-tflite-to-dlc": b"\0\0\0\0TFL3",
    "snpe-pytorch-to-dlc": b"\x80\x02",
}
"""Tools whose frameworks are no part of a plain installation, and how their files begin."""
FRONTS = ("snpe-dlc-graph-prepare", *(name for name in TOOLS if name.startswith(("qairt", "qnn"))))
"""Tools with a test of their own, test_qnn.py."""
BENCH = """
snpe_bench.py -c bench.json -p burst -l moderate -b tf8 -s 20 -json -cache -d -r localhost -t le64
    -v sd855 -o base --draws --chip sd855 --stack snpe-1.30
snpe_bench.py --config_file bench.json -a --float net.dlc --labels labels.txt
"""
SCRIPT = CONVERT + QUANTIZE + LOOK + RUN + BENCH
LEFT = """
a.dlc b.dlc c.dlc caffe.dlc d.dlc diag.csv e.dlc symbolic.dlc
diff.csv info.csv net.dlc net_quantized.dlc
output
htp htp/Result_0 htp/Result_0/y.raw htp/Result_1 htp/Result_1/y.raw page.html
output/Result_0 output/Result_0/y.raw output/Result_1 output/Result_1/y.raw
output/SNPEDiag_0.log parallel parallel/Result_0 parallel/Result_0/y.raw parallel/Result_1
parallel/Result_1/y.raw parallel/SNPEDiag_0.log parallel/SNPEDiag_1.log parallel/SNPEDiag_2.log
parallel/SNPEDiag_3.log parallel/SNPEDiag_4.log parallel/SNPEDiag_5.log parallel/SNPEDiag_6.log
throughput.json
"""
LEFT_BY_BENCH = """
benchmark.json benchmark_stats_N.csv benchmark_stats_N.json timing timing/DSP
timing/DSP/answers.json timing/DSP/Run1 timing/DSP/Run1/SNPEDiag_0.log
timing/DSP/Run1/snpe-bench_cmds.sh timing/DSP_ub_float timing/DSP_ub_float/answers.json
timing/DSP_ub_float/Run1 timing/DSP_ub_float/Run1/SNPEDiag_0.log
timing/DSP_ub_float/Run1/snpe-bench_cmds.sh timing/DSP_ub_tf8 timing/DSP_ub_tf8/answers.json
timing/DSP_ub_tf8/Run1 timing/DSP_ub_tf8/Run1/SNPEDiag_0.log
timing/DSP_ub_tf8/Run1/snpe-bench_cmds.sh
"""
"""Below the folder of each of its two benchmarks, which is called after the time."""
CONFIG = """{"Name": "N", "HostRootPath": "n", "HostResultsDir": "results", "DevicePath": "/data",
"Devices": ["8998"], "Runs": 1, "Runtimes": ["DSP"], "Measurements": ["timing"],
"Model": {"Name": "N", "Dlc": "a.dlc", "InputList": "list.txt", "Data": ["."]}}"""
_CONVOLUTION = (
    "convolution_param { num_output: 8 kernel_size: 3 pad: 1 bias_term: false "
    'weight_filler { type: "xavier" } }'
)


def lines() -> list[str]:
    return [line for line in SCRIPT.replace("\n    ", " ").splitlines() if line]


@pytest.fixture
def given(tmp_path: Path, onnx_model: Callable[..., onnx.ModelProto]) -> set[Path]:
    """net.onnx, overrides for it, a list of two pictures, and layers that nothing needs."""
    (tmp_path / "own.py").write_bytes(own_layers.FILE.read_bytes())
    rng = np.random.default_rng(0)
    nodes = [
        onnx.helper.make_node("Conv", ["x", "w"], ["c"], "conv", pads=[1, 1, 1, 1]),
        onnx.helper.make_node("Relu", ["c"], ["y"], "relu"),
    ]
    weight = {"w": rng.standard_normal((8, 3, 3, 3)).astype(np.float32)}
    onnx.save(onnx_model(nodes, {"x": (1, 3, 8, 8)}, ["y"], weight), tmp_path / "net.onnx")
    symbolic = onnx_model(nodes, {"x": (1, 3, 8, 8)}, ["y"], weight)
    symbolic.graph.input[0].type.tensor_type.shape.dim[2].dim_param = "height"
    onnx.save(symbolic, tmp_path / "symbolic.onnx")
    overrides = '{"activation_encodings": {"y": [{"bitwidth": 32, "dtype": "float"}]}, '
    (tmp_path / "overrides.json").write_text(overrides + '"param_encodings": {}}')
    for index in range(2):
        picture = rng.integers(0, 256, (1, 8, 8, 3)).astype("<f4")
        picture.tofile(tmp_path / f"{index}.raw")
    (tmp_path / "list.txt").write_text("0.raw\n1.raw\n")
    (tmp_path / "labels.txt").write_text("3\n5\n")
    (tmp_path / "bench.json").write_text(CONFIG)
    stored(
        tmp_path,
        net(
            layer("c", "Convolution", "x", "c", _CONVOLUTION), layer("y", "ReLU", "c", "y"),
            x=(1, 3, 8, 8),
        ),
    )  # fmt: skip
    weights = caffemodel({"c": [weight["w"]]})
    (tmp_path / "weights.caffemodel").write_bytes(weights)
    return set(tmp_path.rglob("*"))


def test_it_runs_and_leaves_what_snpe_leaves(tool: Tool, given: set[Path], tmp_path: Path) -> None:
    for line in lines():
        code, _, err = tool(line)
        assert code == 0, (line, err)
    left = {path.relative_to(tmp_path).as_posix() for path in {*tmp_path.rglob("*")} - given}
    of_bench = {path for path in left if path.split("/")[0] in ("base", "results")}
    assert left - of_bench == set(LEFT.split())
    ends = {path.split("results/", 1)[1].partition("/")[2] for path in of_bench if "s/20" in path}
    assert ends - {""} == set(LEFT_BY_BENCH.split())


def test_it_has_every_option_that_is_taken() -> None:
    """Those of snpe-net-run have a test of their own, since most exclude each other."""
    typed: dict[str, set[str]] = {}
    for line in lines():
        name, *words = line.split()
        typed.setdefault(name, set()).update(word.partition("=")[0] for word in words)
    of_net_run = TOOLS["snpe-net-run"].options
    typed["snpe-dlc-quantize"] |= typed["snpe-dlc-quant"]
    for name, tool in TOOLS.items():
        if name in ("snpe-net-run", "snpe-dlc-quant", *EXTRAS, *FRONTS):
            continue
        for option in tool.options:
            effect = option.effect
            effects = [effect] if isinstance(effect, Effect) else list(effect.values())
            is_shared = name == "snpe-throughput-net-run" and option in of_net_run
            if not is_shared and not all(effect.kind == "refused" for effect in effects):
                assert typed[name] & set(option.names), (name, option.name)


@pytest.mark.parametrize("name", EXTRAS)
def test_a_file_that_is_none_is_one_sentence(name: str, tool: Tool, tmp_path: Path) -> None:
    (tmp_path / "model").write_bytes(EXTRAS[name])
    code, out, err = tool(f"{name} -i model -o m.dlc -d x 1,8,8,3 --out_node y")
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert "'model' is " in err
    assert not (tmp_path / "m.dlc").exists()
