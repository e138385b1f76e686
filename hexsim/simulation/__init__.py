"""Simulates the phone: plans become work items, whose time is charged to layers."""
