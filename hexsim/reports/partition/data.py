"""How a network is cut for AIP, as JSON."""

from hexsim.reports.document import Record
from hexsim.studies.cuts import Survey

_search = Record(
    "The fastest cut beside the automatic one; the gain is a factor with its interval.",
    "best=best_ids best_us default=default_ids default_us hvx_us",
    {"gain": ("", Record("", "value=gain low high"))},
)

partition_facts = Record(
    "One cut of a network; the key `search` only after a search.",
    ("prices.times", "network=network.name chip=platform.chip.name"),
    ("prices.times.platform.stack", "stack=name rules=partitioning.rules"),
    ("survey", Survey),
    ("search", {"search": ("", _search)}),
    results="prices survey search",
)
