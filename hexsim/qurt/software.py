"""Software threads, as QuRT schedules them."""

from dataclasses import dataclass

INTERRUPT_PRIORITY = 0
"""Interrupt handlers preempt every thread."""

LOWEST_PRIORITY = 255
"""QuRT numbers priorities 0 to 255, 0 highest (QuRT User Guide 80-VB419-178, section 4)."""


@dataclass(frozen=True, eq=False)
class SoftwareThread:
    """A QuRT thread: its name and priority, 0 highest. Two threads are never equal."""

    name: str
    priority: int
