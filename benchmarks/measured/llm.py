"""Published speeds of language models on tensor processors.

A row of llm_latency.csv is one deployment of the performance tables of AI Hub Models (BSD-3). The
time for a full context is that of one block times the number of blocks, so it holds no further
measurement. The rows of Llama 2 have the same time in both columns: their prompt processor takes
the whole context of 1024 tokens at once (its model card, huggingface.co/qualcomm/Llama-v2-7B-Chat).
That of Llama 3.2 3B in w4 has the times to the first token of the row in w4a16.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass

from hexsim.datasheets.measurements import read_rows

BLOCK = 128
"""Tokens of a block of the prompt, in rows that have the time of one."""


@dataclass(frozen=True)
class LlmRow:
    """One published deployment; times to the first token in ms."""

    model: str
    precision: str
    chip: str
    runtime: str
    context_length: int
    tokens_per_second: float
    ttft_128_tokens_ms: float
    ttft_full_context_ms: float
    note: str
    source: str

    @property
    def block(self) -> int:
        """Tokens of one block of the prompt."""
        whole = self.ttft_128_tokens_ms == self.ttft_full_context_ms
        return self.context_length if whole else BLOCK

    @property
    def block_ms(self) -> float:
        """The time of one block of the prompt."""
        return self.ttft_full_context_ms * self.block / self.context_length

    @property
    def repeats_another(self) -> bool:
        """Whether the times to the first token are those of the same model in w4a16."""
        return self.precision == "w4" and any(
            row.ttft_128_tokens_ms == self.ttft_128_tokens_ms
            and (row.model, row.chip) == (self.model, self.chip)
            and row.precision != self.precision
            for row in llm_rows()
        )


@functools.cache
def llm_rows() -> tuple[LlmRow, ...]:
    """Read every row, in file order."""
    return read_rows("llm_latency.csv", LlmRow)
