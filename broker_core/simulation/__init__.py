"""The production scheduler in virtual time: synthetic sites, workload traces, figures."""
