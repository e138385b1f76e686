"""docs/reference/glossary.md: the nouns of the code, and the words of the field, alphabetically.

python -m benchmarks.glossary [--write]

The nouns and their meanings are read from docs/architecture.md. The words of the field are listed
here, because they are not nouns of that page.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from benchmarks.pages import DOCS, REFERENCE, print_or_write, with_block

PAGE = REFERENCE / "glossary.md"
MAP = DOCS / "architecture.md"

_ENTRY = re.compile(r"^- \*\*([\w ]+)\*\*\s+\(`([\w.]+)`\): (.+(?:\n  .+)*)$", re.MULTILINE)


@dataclass(frozen=True)
class Entry:
    """A word with its meaning, and the dotted name of the code that it belongs to."""

    word: str
    meaning: str
    code: str

    @property
    def row(self) -> str:
        """Its row in the table."""
        return f"| {self.word} | {self.meaning} | `{self.code}` |"


FIELD_WORDS = (
    Entry(
        "Autotuner",
        "chooses the algorithm of a convolution: by counting instructions or, if that does not "
        "decide, by measuring.",
        "hexsim.int8.autotuner",
    ),
    Entry(
        "Code",
        "an integer that stands for a real number under an encoding (a quantised value).",
        "hexsim.quantization.encodings",
    ),
    Entry(
        "d32",
        "the tensor layout of Hexagon NN: channels in groups of 32, so that four pixels of a group "
        "fill one vector.",
        "hexsim.hvx.layout",
    ),
    Entry("DLC", "deep learning container, SNPE's file for a network (`.dlc`).", "hexsim.dlc"),
    Entry("FastRPC", "the remote procedure call by which the CPU calls the DSP.", "hexsim.host"),
    Entry(
        "Gemm",
        "general matrix multiplication, to which most convolutions are reduced.",
        "hexsim.int8.gemm",
    ),
    Entry(
        "HTA",
        "Hexagon Tensor Accelerator, the tensor engine beside the DSP of some chips (`aip`).",
        "hexsim.hta",
    ),
    Entry("HTP", "Hexagon Tensor Processor, the DSP of V68 and later (`htp`).", "hexsim.htp"),
    Entry(
        "HVX",
        "Hexagon Vector eXtensions, the vector unit of the DSP, with registers of 128 bytes.",
        "hexsim.hvx",
    ),
    Entry("QuRT", "the real-time operating system of the DSP.", "hexsim.qurt_threads"),
    Entry(
        "Requantise",
        "to turn the 32-bit sums of a layer into codes of the encoding of its output.",
        "hexsim.int8.requantize",
    ),
    Entry(
        "SQNR",
        "signal-to-quantisation-noise ratio in dB: how close quantised outputs are to float.",
        "hexsim.accuracy",
    ),
    Entry("UDL", "user-defined layer, SNPE's name for a user's own operator.", "hexsim.udl"),
    Entry(
        "VTCM",
        "vector tightly coupled memory: memory on the chip that the software of the DSP fills.",
        "hexsim.hvx",
    ),
)
"""Words of the field that are not nouns on the map."""


def nouns() -> list[Entry]:
    """Return the nouns of the map in its order, each meaning on one line."""
    return [
        Entry(word, " ".join(meaning.split()), code)
        for word, code, meaning in _ENTRY.findall(MAP.read_text(encoding="utf-8"))
    ]


def entries() -> list[Entry]:
    """Return all words in alphabetical order."""
    return sorted([*nouns(), *FIELD_WORDS], key=lambda entry: entry.word.casefold())


def page() -> str:
    """Return the page with today's table."""
    rows = ["| word | meaning | in the code |", "|---|---|---|", *(e.row for e in entries())]
    return with_block(PAGE.read_text(encoding="utf-8"), "glossary", "\n".join(rows))


def main() -> None:
    """Print the page, or write it."""
    print_or_write(PAGE, page)


if __name__ == "__main__":
    main()
