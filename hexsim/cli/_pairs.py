"""Options whose words typer cannot read, as the SNPE tools have them.

An underscore in the name of an option is as good as a hyphen: `--input_list` is `--input-list`.

Options that take a name and a value as two words: typer knows repeatable options and options of
two words, but not both at once. So the two words are joined into one,
`--input-dim data 1,3,224,224` becoming `--input-dim "data 1,3,224,224"`, before typer sees them.

Options whose value may be missing: `--use-enhanced-quantizer` alone becomes
`--use-enhanced-quantizer both`.
"""

from __future__ import annotations

from collections.abc import Sequence

PAIRED = frozenset({"--input-dim", "--input-encoding", "--input-type", "--input-value"})
OPTIONAL = {"--use-enhanced-quantizer": (("weights", "activations", "both"), "both")}
"""Option -> the values it takes, and the one that is meant when none of them follows."""


def join_pairs(words: Sequence[str]) -> list[str]:
    """Return the command line with one word, and never none, after each of these options.

    Names of options get hyphens.
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
