"""How far a runtime's answers are from the float network's."""
