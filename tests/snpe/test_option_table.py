"""Every option that the guides document for a tool is in its table: with a meaning or a reason."""

import pytest

from hexsim.graph.network_ends import INPUT_ENCODINGS, INPUT_TYPES
from hexsim.snpe.option import Option
from hexsim.snpe.runtimes import LIBRARIES
from hexsim.snpe.tool import TOOLS

_CONVERTER = (
    "--input_network -i --output_path -o --input_dim -d --out_node --out_name --input_type -t "
    "--input_dtype --input_encoding -e --input_layout --disable_batchnorm_folding "
    "--quantization_overrides --keep_quant_nodes --validation_target --strict --model_version "
    "--copyright_file --debug --udo_config_paths -udo --squash_box_decoder"
)
_LOGGING = (
    "--verbose --quiet --silent --debug --debug1 --debug2 --debug3 --log-mask --log-file --log-dir "
    "--log-file-include-hostname"
)
_LATE_QUANTIZER = (
    "--act_quantizer_calibration --param_quantizer_calibration --percentile_calibration_value "
    "--act_quantizer_schema --param_quantizer_schema --use_per_channel_quantization "
    "--use_per_row_quantization --restrict_quantization_steps --float_fallback "
    "--keep_weights_quantized --ignore_encodings --algorithms --apply_algorithms"
)
_QUANTIZER = (
    "--input_dlc --input_list --output_dlc --no_weight_quantization --use_enhanced_quantizer "
    "--use_adjusted_weights_quantizer --use_symmetric_quantize_weights --optimizations "
    "--override_params --bias_bitwidth --act_bitwidth --weights_bitwidth --bitwidth --enable_hta "
    "--hta_partitions --enable_partitions --enable_htp --htp_socs --axis_quant --float_bitwidth "
    "--float_bias_bitwidth --use_encoding_optimizations --pack_4_bit_weights "
    "--overwrite_cache_records --use_float_io --buffer_data_type --udo_package_path "
    f"--act_quantizer --param_quantizer {_LATE_QUANTIZER} {_LOGGING}"
)
_NET_RUN = (
    "--container --input_list --use_gpu --use_dsp --use_aip --use_fxp_cpu --use_htp --gpu_mode "
    "--runtime_order --output_dir --storage_dir --debug --set_output_tensors "
    "--set_unconsumed_as_output --perf_profile --profiling_level --enable_cpu_fallback "
    "--input_name --input_dimensions --encoding_type --userbuffer_float --userbuffer_tf8 "
    "--userbuffer_tfN --userbuffer_floatN --userbuffer_auto --userbuffer_float_output "
    "--userbuffer_tf8_output --userbuffer_tfN_output --userbuffer_floatN_output "
    "--userbuffer_auto_output --userbuffer_uintN_output --userbuffer_memorymapped "
    "--userbuffer_glbuffer --static_min_max --use_native_input_files --use_native_output_files "
    "--enable_init_cache --platform_options --priority_hint --inferences_per_duration --duration "
    "--timeout --enable_cpu_fxp --data_type_map --tensor_mode --resizable_dim --udo_package_path "
    "--userlogs"
)
DOCUMENTED = {
    "snpe-onnx-to-dlc": f"{_CONVERTER} --dry_run --define_symbol -s --preserve_io --custom_io "
    "--keep_int64_inputs --no_simplification -n --float_bitwidth --graph --dlc",
    "snpe-tensorflow-to-dlc": f"{_CONVERTER} --show_unconsumed_nodes --allow_unconsumed_nodes "
    "--saved_model_tag --saved_model_signature_key --graph --dlc",
    "snpe-caffe-to-dlc": f"{_CONVERTER} --caffe_bin -b -c --enable_preprocessing",
    "snpe-tflite-to-dlc": f"{_CONVERTER} --dump_relay",
    "snpe-pytorch-to-dlc": f"{_CONVERTER} --dump_relay",
    "snpe-dlc-quantize": _QUANTIZER,
    "snpe-dlc-quant": _QUANTIZER,
    "qairt-quantizer": _LATE_QUANTIZER,
    "snpe-net-run": _NET_RUN,
    "snpe-throughput-net-run": "--container --duration --use_cpu --use_gpu --use_gpu_fp16 "
    "--use_dsp --use_aip --runtime_order --perf_profile --iterations --input_raw --json "
    "--skip_execute "
    "--enable_cpu_fallback --storage_dir --verbose --debug --udo_package_path "
    "--userbuffer_float --userbuffer_tf8 --userbuffer_tfN --userbuffer_auto --enable_init_cache",
    "snpe-parallel-run": "--perf_profile --cpu_fallback --runtime_order --use_cpu --use_gpu "
    "--use_dsp --use_aip",
    "snpe-dlc-info": "-i -s",
    "snpe-dlc-diff": "-i1 -i2 -c -l -p -d -w -o -i -x -s",
    "snpe-dlc-viewer": "-i -s",
    "snpe-diagview": "--input_log --output --csv_format_version",
    "snpe-dlc-graph-prepare": "--input_dlc --output_dlc --input_list --set_output_tensors "
    "--set_output_layers --htp_socs --htp_archs --vtcm_override --optimization_level "
    "--use_float_io --buffer_data_type --overwrite_cache_records --udo_package_path",
    "qairt-converter": "-i -o -d --target_backend --target_soc_model --onnx_no_simplification "
    "--source_model_input_layout --desired_input_layout --quantization_overrides",
    "qnn-context-binary-generator": "--model --backend --dlc_path --output_dir --binary_file "
    "--config_file",
    "qnn-net-run": "--model --backend --dlc_path --retrieve_context --input_list --output_dir",
    "qairt-dlc-info": "-i -s",
    "qnn-onnx-converter": "-i -o -d --out_node --input_layout --input_dtype --define_symbol "
    "--no_simplification --input_list --preserve_io --custom_io --quantization_overrides "
    "--float_bitwidth --squash_box_decoder",
    "qnn-profile-viewer": "--input_log --output --reader --config",
    "snpe_bench.py": "-c -o -v -r -a -t -d -s -b -p -l -json -cache",
}
"""Options by tool, as the reference guides of releases 1.17 to 2.5 and later command lines say."""


@pytest.mark.parametrize("tool", DOCUMENTED)
def test_every_documented_option_is_in_the_table(tool: str) -> None:
    names = {name for option in TOOLS[tool].options for name in option.names}
    assert [name for name in DOCUMENTED[tool].split() if name not in names] == []


def test_every_tool_that_works_has_its_options_listed() -> None:
    assert {name for name, tool in TOOLS.items() if not tool.refusal} == set(DOCUMENTED)


def _option(tool: str, name: str) -> Option:
    return next(option for option in TOOLS[tool].options if name in option.names)


def test_the_tables_name_what_the_commands_know() -> None:
    assert _option("snpe-onnx-to-dlc", "--input_type").choices == INPUT_TYPES
    assert _option("snpe-onnx-to-dlc", "--input_encoding").choices == INPUT_ENCODINGS
    assert ", ".join(LIBRARIES) in _option("qnn-net-run", "--backend").help
