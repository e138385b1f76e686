"""What is read from a config.json, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from hexsim.errors import HexsimError
from hexsim.llm.architecture import architecture_of, read_architecture
from hexsim.llm.network import Widths, decoder

CONFIGS = Path(__file__).parents[2] / "benchmarks" / "llm_configs"
SMALL = {
    "model_type": "llama",
    "hidden_size": 64,
    "intermediate_size": 96,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "vocab_size": 100,
}


def _of(**changes: Any) -> Any:
    return architecture_of({**SMALL, **changes}, "small", "config.json")


@pytest.mark.parametrize(
    ("name", "parameters"),
    [
        ("llama_v2_7b_chat", 6.738e9),
        ("llama_v3_1_8b_instruct", 8.030e9),
        ("llama_v3_2_1b_instruct", 1.236e9),
        ("llama_v3_2_3b_instruct", 3.213e9),
    ],
)
def test_the_published_numbers_of_weights_come_out(name: str, parameters: float) -> None:
    """As their model cards print them, without the few weights of norms."""
    architecture = read_architecture(CONFIGS / f"{name}.json")
    assert architecture.parameters == pytest.approx(parameters, rel=1e-3)


def test_what_is_left_out_has_its_usual_value() -> None:
    """As many heads of keys as of queries, heads that share the width, all of each rotated."""
    small = _of()
    assert (small.kv_heads, small.head_size, small.rotary_size) == (4, 16, 16)
    assert (small.tied, small.qkv_bias, small.head_norms) == (False, False, False)


@pytest.mark.parametrize(
    ("changes", "field", "value"),
    [
        ({"model_type": "qwen2"}, "qkv_bias", True),
        ({"model_type": "qwen3", "head_dim": 32}, "head_norms", True),
        ({"model_type": "qwen3", "head_dim": 32}, "head_size", 32),
        ({"model_type": "gemma"}, "tied", True),
        ({"model_type": "gemma2"}, "norms_after", True),
        ({"model_type": "phi3", "partial_rotary_factor": 0.75}, "rotary_size", 12),
        ({"model_type": "granite", "attention_bias": True}, "qkv_bias", True),
        ({"model_type": "mistral", "num_key_value_heads": 2}, "kv_heads", 2),
        ({"num_key_value_heads": None}, "kv_heads", 4),
        ({"model_type": "smollm3", "no_rope_layers": [1, 1, 1, 0]}, "tied", True),
        ({"model_type": "baichuan"}, "rotary_size", 16),
        ({"text_config": {"model_type": "gemma"}}, "model_type", "llama"),
        ({"model_type": "qwen2_5_vl", "vision_config": {"hidden_size": 8}}, "qkv_bias", True),
        ({"num_experts": 1, "layer_types": ["full_attention"]}, "layers", 2),
    ],
)
def test_families_differ_in_what_they_have(
    changes: dict[str, Any], field: str, value: object
) -> None:
    assert getattr(_of(**changes), field) == value


@pytest.mark.parametrize("key", [key for key in SMALL])
def test_a_missing_key_is_named(key: str) -> None:
    tree = {name: value for name, value in SMALL.items() if name != key}
    with pytest.raises(HexsimError, match=f"config.json: key '{key}' is missing"):
        architecture_of(tree, "small", "config.json")


@pytest.mark.parametrize(
    ("changes", "key"),
    [
        ({"hidden_size": 0}, "hidden_size"),
        ({"hidden_size": 1 << 40}, "hidden_size"),
        ({"hidden_size": 66}, "hidden_size"),
        ({"num_hidden_layers": "2"}, "num_hidden_layers"),
        ({"num_hidden_layers": True}, "num_hidden_layers"),
        ({"num_key_value_heads": 3}, "num_key_value_heads"),
        ({"partial_rotary_factor": 2}, "partial_rotary_factor"),
        ({"partial_rotary_factor": 0.01}, "partial_rotary_factor"),
        ({"tie_word_embeddings": 1}, "tie_word_embeddings"),
        ({"num_local_experts": 8}, "num_local_experts"),
        ({"model_type": "mamba"}, "model_type"),
        (
            {"model_type": "qwen3_moe", "num_experts": 8},
            "key 'num_experts' states a mixture of exp",
        ),
        ({"model_type": "deepseek_v3", "n_routed_experts": 8}, "n_routed_experts"),
        ({"model_type": "dbrx", "ffn_config": {"moe_num_experts": 16}}, "moe_num_experts"),
        ({"model_type": "jamba", "layers_block_type": ["mamba"]}, "of the kind 'mamba'"),
        (
            {"layer_types": ["full_attention", "mamba"]},
            "layer_types' has layers of the kind 'mamba'",
        ),
        ({"model_type": "qwen3_next", "linear_num_key_heads": 2}, "layers without attention"),
    ],
)
def test_a_wrong_value_is_refused_with_its_key(changes: dict[str, Any], key: str) -> None:
    with pytest.raises(HexsimError, match=f"config.json: .*{key}"):
        _of(**changes)


@pytest.mark.parametrize(
    "keys", [["text_config"], ["llm_config"], ["thinker_config", "text_config"]]
)
def test_the_language_model_is_a_part_of_a_larger_one(keys: list[str]) -> None:
    tree: dict[str, Any] = {**SMALL, "model_type": "qwen3"}
    wrong: dict[str, Any] = {"model_type": 1}
    for key in reversed(keys):
        tree, wrong = (
            {"model_type": "seen", "vision_config": {}, key: part} for part in (tree, wrong)
        )
    assert architecture_of(tree, "small", "config.json").model_type == "qwen3"
    with pytest.raises(HexsimError, match=rf"config\.json, {', '.join(keys)}: key 'model_type'"):
        architecture_of(wrong, "small", "config.json")


def test_the_feed_forward_of_gpt2_has_no_gate_and_nothing_is_rotated() -> None:
    tree = {"model_type": "gpt2", "n_embd": 64, "n_head": 4, "n_layer": 2, "vocab_size": 100}
    of_gpt2 = architecture_of({**tree, "activation_function": "gelu"}, "g", "config.json")
    assert (of_gpt2.gated, of_gpt2.rotary_size, of_gpt2.feed_forward) == (False, 0, 256)
    of_jais = architecture_of({**tree, "model_type": "jais", "n_inner": 96}, "j", "config.json")
    assert (of_jais.gated, of_jais.feed_forward) == (True, 96)
    assert of_jais.layer_weights - of_gpt2.layer_weights == 64 * (3 * 96 - 2 * 256)
    names = {layer.name for layer in decoder(of_gpt2, 1, 8, Widths(4, "16")).network.layers}
    assert "layer0.gelu" in names
    assert not any("rotated" in name for name in names)
    with pytest.raises(HexsimError, match="key 'n_layer' is missing"):
        architecture_of({k: v for k, v in tree.items() if k != "n_layer"}, "g", "config.json")


def test_a_folder_stands_for_its_config(tmp_path: Path) -> None:
    folder = tmp_path / "tiny"
    folder.mkdir()
    (folder / "config.json").write_text(json.dumps(SMALL))
    assert read_architecture(folder).name == "tiny"
    with pytest.raises(HexsimError, match="cannot read configuration"):
        read_architecture(tmp_path)


@pytest.mark.parametrize("text", ["[]", "{", '{"model_type": 1}'])
def test_what_is_no_configuration_is_refused(text: str, tmp_path: Path) -> None:
    file = tmp_path / "config.json"
    file.write_text(text)
    with pytest.raises(HexsimError, match=r"config\.json"):
        read_architecture(file)
