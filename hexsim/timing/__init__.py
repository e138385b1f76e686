"""What simulated time is made of: its unit, shared rates, work items, spans and results."""
