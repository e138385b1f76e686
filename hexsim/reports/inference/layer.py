"""The figures of a layer's time as data, the same in every file that lists layers."""

from __future__ import annotations

from hexsim.reports.document import Record

layer_facts = Record(
    "A layer; cycles in the clock of its engine, bytes by level of memory.",
    "name type engine cycles us macs packets stall_share hvx_utilisation array_utilisation",
    "ddr_bytes ddr_read_bytes ddr_write_bytes l2_bytes vtcm_bytes bound bound_share",
    "parts_us=parts_ps cost_model",
)
