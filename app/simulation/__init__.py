"""The simulation page: a workload replayed by the real scheduler in virtual time."""
