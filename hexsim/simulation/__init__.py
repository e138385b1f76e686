"""The phone that runs: plans become work, work takes time, time is charged to layers."""
