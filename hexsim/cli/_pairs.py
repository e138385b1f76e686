"""Rewrites options in the style of the SNPE tools, which typer cannot parse.

1. An underscore in the name of an option equals a hyphen: `--input_list` is `--input-list`.
2. Some options take a name and a value as two words. Typer supports repeatable options and options
   of two words, but not both at once. So the two words are joined into one:
   `--input-dim data 1,3,224,224` becomes `--input-dim "data 1,3,224,224"`.
3. The value of some options may be missing: `--use-enhanced-quantizer` alone becomes
   `--use-enhanced-quantizer both`.
"""

from collections.abc import Sequence

PAIRED = frozenset({"--input-dim", "--input-encoding", "--input-type", "--input-value"})
OPTIONAL = {"--use-enhanced-quantizer": (("weights", "activations", "both"), "both")}
"""The values that each option takes, and its value if none of them follows."""


def join_pairs(words: Sequence[str]) -> list[str]:
    """Return the command line with exactly one word after each of these options.

    Underscores in the names of options become hyphens.
    """
    joined, rest = [], list(words)
    while rest:
        word = _hyphenated(rest.pop(0))
        joined.append(word)
        if word in PAIRED and len(rest) >= 2 and " " not in rest[0]:
            joined.append(f"{rest.pop(0)} {rest.pop(0)}")
        if word in OPTIONAL:
            values, missing = OPTIONAL[word]
            if not rest or rest[0] not in values:
                joined.append(missing)
    return joined


def _hyphenated(word: str) -> str:
    if not word.startswith("--"):
        return word
    name, equals, value = word.partition("=")
    return name.replace("_", "-") + equals + value
