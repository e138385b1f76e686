"""The architecture of a decoder, from its public `config.json`.

The keys are those that Hugging Face's transformers writes for the model types below. Only what
changes shapes is read; constants of training and sampling are ignored. Of a model that also sees or
hears, the language model is read, which its configuration states beside the others or in a part.

Left out: mixtures of experts and layers without attention, which are refused; and sliding windows
of attention, which deployments for the tensor processor do not use: every layer reads the whole
context. All layers rotate queries and keys, though SmolLM3 leaves that out in some and Baichuan 13B
in all: it takes 0.01 % of a block of the prompt, and nothing of a token, which waits for weights.
Positions that are a bias of the scores (ALiBi) can be written into the mask. Norms that subtract
the mean (GPT-2, JAIS) cost what others do.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from hexsim.errors import HexsimError
from hexsim.records import dataclass, field
from hexsim.texts.text import read_text, shortened
from hexsim.texts.trees import parse_json

_MOST = 1 << 20
"""The largest size that a configuration may state, far above every public model."""
MOST_LAYERS = 1000


@dataclass(frozen=True)
class _Family:
    """What a model type has that its configuration does not say.

    `qkv_bias`: the projections of queries, keys and values add a bias. `head_norms`: queries and
    keys are normalised head by head. `norms_after`: attention and feed-forward have a second
    normalisation, of their results. `tied`: the default of `tie_word_embeddings`. `gated`: the
    feed-forward network has a gate. `rotated`: queries and keys are rotated by their positions.
    `keys` has other names of keys.
    """

    qkv_bias: bool = False
    head_norms: bool = False
    norms_after: bool = False
    tied: bool = False
    gated: bool = True
    rotated: bool = True
    keys: Mapping[str, str] = field(default_factory=dict)


_GPT2_KEYS = {
    "hidden_size": "n_embd",
    "num_attention_heads": "n_head",
    "num_hidden_layers": "n_layer",
    "intermediate_size": "n_inner",
}


_FAMILIES: Mapping[str, _Family] = {
    **dict.fromkeys(("llama", "mistral", "phi3", "granite", "baichuan"), _Family()),
    **dict.fromkeys(("qwen2", "qwen2_vl", "qwen2_vl_text"), _Family(qkv_bias=True)),
    **dict.fromkeys(("qwen2_5_vl", "qwen2_5_vl_text"), _Family(qkv_bias=True)),
    **dict.fromkeys(("qwen3", "qwen3_vl_text"), _Family(head_norms=True)),
    **dict.fromkeys(("gemma", "smollm3"), _Family(tied=True)),
    "gemma2": _Family(tied=True, norms_after=True),
    "gemma3_text": _Family(tied=True, norms_after=True, head_norms=True),
    "gpt2": _Family(qkv_bias=True, tied=True, gated=False, rotated=False, keys=_GPT2_KEYS),
    "jais": _Family(qkv_bias=True, tied=True, rotated=False, keys=_GPT2_KEYS),
}
"""Falcon3 has the model type llama, Qwen2.5 that of Qwen2."""
_EXPERTS = (
    *("num_local_experts", "num_experts", "n_routed_experts", "moe_num_experts"),
    *("moe_intermediate_size", "num_experts_per_tok"),
)
"""Keys that only a mixture of experts has, unless their value is one of _DENSE."""
_DENSE = (None, 0, 1)
_STATE_SPACES = (
    *("mamba_d_state", "mamba_d_ssm", "ssm_cfg", "ssm_state_size", "state_size", "lru_width"),
    *("linear_num_key_heads", "linear_attn_config", "full_attention_interval", "attn_type_list"),
    *("conv_L_cache", "attn_layer_indices", "attn_layer_period", "hybrid_override_pattern"),
)
"""Keys that only a model with layers without attention has."""
_KINDS = ("layer_types", "layers_block_type", "block_types", "_block_types")
"""Keys that list the kinds of layers."""
_ATTENTION = ("full_attention", "sliding_attention", "chunked_attention", "attention")
"""The kinds of layers that attend to earlier tokens."""
_LANGUAGE = ("text_config", "llm_config", "language_config", "thinker_config")
"""Keys below which the language model of a larger one is described."""


@dataclass(frozen=True)
class Architecture:
    """The sizes of a decoder.

    `heads` query heads share `kv_heads` heads of keys and values, each of `head_size` numbers, of
    which `rotary_size` are rotated. `feed_forward` is the width of the feed-forward network, which
    is `gated` or has one matrix less.
    `tied` says that the head has the weights of the embedding. `weight_bits` are those of most
    weights in the layers of an ONNX file, `head_bits` those of its head; they are None for floats
    and for a configuration.
    """

    name: str
    model_type: str
    hidden: int
    layers: int
    heads: int
    kv_heads: int
    head_size: int
    rotary_size: int
    feed_forward: int
    vocabulary: int
    tied: bool
    qkv_bias: bool
    head_norms: bool
    norms_after: bool
    gated: bool = True
    weight_bits: int | None = None
    head_bits: int | None = None

    @property
    def layer_weights(self) -> int:
        """Weights of the matrices of one layer, without norms and biases."""
        queries, cached = self.heads * self.head_size, self.kv_heads * self.head_size
        attention = self.hidden * (queries + 2 * cached) + queries * self.hidden
        return attention + (3 if self.gated else 2) * self.hidden * self.feed_forward

    @property
    def head_weights(self) -> int:
        """Weights of the head, which are as many as those of the embedding."""
        return self.hidden * self.vocabulary

    @property
    def parameters(self) -> int:
        """Weights of all matrices; those of a tied head are counted once."""
        return self.layers * self.layer_weights + self.head_weights * (1 if self.tied else 2)

    def cache_bytes(self, context: int, bits: int) -> int:
        """Return the bytes of keys and values of `context` tokens, in `bits` per number."""
        return 2 * self.layers * self.kv_heads * self.head_size * context * bits // 8


def read_architecture(path: str | Path) -> Architecture:
    """Read a `config.json`, or the one in a folder.

    Raises HexsimError naming the file and the key if the model type is unknown, a key is missing,
    or sizes do not fit together.
    """
    file = described_in(path)
    text = read_text(file, "configuration", "give the config.json of a language model")
    tree = parse_json(text, str(file))
    if not isinstance(tree, dict):
        raise HexsimError(f"{file}: a configuration is a JSON object, not {type(tree).__name__}")
    name = file.parent.resolve().name if file.name == "config.json" else file.stem
    return architecture_of(tree, name, str(file))


def described_in(path: str | Path) -> Path:
    """Return the file that describes a model: `path` itself, or the `config.json` of a folder."""
    file = Path(path)
    return file / "config.json" if file.is_dir() else file


def architecture_of(tree: Mapping[str, Any], name: str, where: str) -> Architecture:
    """Return the architecture that a configuration states; errors as in `read_architecture`."""
    if "num_hidden_layers" not in tree:
        for key in _LANGUAGE:
            if isinstance(part := tree.get(key), Mapping):
                return architecture_of(part, name, f"{where}, {key}")
    model_type = tree.get("model_type")
    if not isinstance(model_type, str):
        raise HexsimError(f"{where}: key 'model_type' is missing; give a config.json of a decoder")
    _Keys(tree, where).refuse_other_layers()
    if model_type not in _FAMILIES:
        raise HexsimError(
            f"{where}: key 'model_type' is '{shortened(model_type)}', which is not simulated; "
            f"known: {', '.join(sorted(_FAMILIES))}"
        )
    family = _FAMILIES[model_type]
    keys = _Keys(tree, where, family.keys)
    hidden, heads = keys.size("hidden_size"), keys.size("num_attention_heads")
    kv_heads = keys.size("num_key_value_heads", heads)
    head_size = keys.size("head_dim", 0)
    if hidden % heads and not head_size:
        raise HexsimError(
            f"{where}: key 'hidden_size' is {hidden}, which the {heads} of 'num_attention_heads' "
            "do not divide, and key 'head_dim' is missing"
        )
    head_size = head_size or hidden // heads
    if heads % kv_heads:
        raise HexsimError(
            f"{where}: key 'num_key_value_heads' is {kv_heads}, which does not divide the {heads} "
            "of 'num_attention_heads'"
        )
    rotary = round(head_size * keys.share("partial_rotary_factor")) if family.rotated else 0
    if family.rotated and rotary < 2:
        raise HexsimError(
            f"{where}: key 'partial_rotary_factor' leaves nothing to rotate of heads of {head_size}"
        )
    is_swiglu = not family.keys or tree.get("activation_function", "swiglu") == "swiglu"
    wide = keys.size("intermediate_size", 4 * hidden if family.keys else None)
    return Architecture(
        name=name,
        model_type=model_type,
        hidden=hidden,
        layers=keys.size("num_hidden_layers", most=MOST_LAYERS),
        heads=heads,
        kv_heads=kv_heads,
        head_size=head_size,
        rotary_size=rotary - rotary % 2,
        feed_forward=wide,
        vocabulary=keys.size("vocab_size"),
        tied=keys.flag("tie_word_embeddings", default=family.tied),
        qkv_bias=family.qkv_bias or keys.flag("attention_bias", default=False),
        head_norms=family.head_norms,
        norms_after=family.norms_after,
        gated=family.gated and is_swiglu,
    )


@dataclass(frozen=True)
class _Keys:
    """The keys of a configuration; errors name the file and the key, as `names` spells it."""

    tree: Mapping[str, Any]
    where: str
    names: Mapping[str, str] = field(default_factory=dict)

    def size(self, key: str, default: int | None = None, most: int = _MOST) -> int:
        """Return a whole number from 1 to `most`; a missing key or null gives `default`."""
        key = self.names.get(key, key)
        value = self.tree.get(key)
        if value is None and default is not None:
            return default
        if value is None:
            raise HexsimError(f"{self.where}: key '{key}' is missing; give a complete config.json")
        if type(value) is not int or not 1 <= value <= most:
            raise HexsimError(
                f"{self.where}: key '{key}' is {value!r}; expected a whole number from 1 to {most}"
            )
        return value

    def share(self, key: str) -> float:
        """Return a number above 0 and up to 1, which is 1 if the key is missing."""
        value = self.tree.get(key)
        if value is None:
            return 1.0
        if type(value) not in (int, float) or not 0 < value <= 1:
            raise HexsimError(
                f"{self.where}: key '{key}' is {value!r}; expected a number above 0 and up to 1"
            )
        return float(value)

    def flag(self, key: str, *, default: bool) -> bool:
        """Return true or false."""
        value = self.tree.get(key)
        if value is None:
            return default
        if not isinstance(value, bool):
            raise HexsimError(f"{self.where}: key '{key}' is {value!r}; expected true or false")
        return value

    def refuse_other_layers(self) -> None:
        """Raise HexsimError for a mixture of experts, and for layers without attention."""
        parts = (self.tree, *(part for part in self.tree.values() if isinstance(part, Mapping)))
        if key := next((k for part in parts for k in _EXPERTS if part.get(k) not in _DENSE), None):
            raise HexsimError(
                f"{self.where}: key '{key}' states a mixture of experts, which is not simulated; "
                "give a dense model"
            )
        for key in _KINDS:
            kinds = self.tree.get(key)
            listed = kinds if isinstance(kinds, list) else []
            others = [str(kind) for kind in listed if kind not in _ATTENTION]
            if others:
                raise HexsimError(
                    f"{self.where}: key '{key}' has layers of the kind '{shortened(others[0])}', "
                    "which are not simulated; give a model whose layers all have attention"
                )
        if key := next((key for key in _STATE_SPACES if self.tree.get(key)), None):
            raise HexsimError(
                f"{self.where}: key '{key}' states layers without attention (state spaces, "
                "convolutions or recurrences), which are not simulated; give a model whose layers "
                "all have attention"
            )
