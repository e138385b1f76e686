"""Chips, software stacks and background loads: what is stated, by whom, how surely."""
