"""Short names of computing elements."""

from broker_core.jobs.site_names import choice_words, site_name


def test_a_computing_element_is_called_by_its_host_and_this_machine_by_its_queue() -> None:
    assert site_name("ce.example.org:2119/jobmanager-pbs-long") == "ce.example.org"
    assert site_name("localhost:2119/jobmanager-fork-local") == "local"
    assert site_name("a.org:1/x-y-z, localhost:2119/jobmanager-fork-local") == "a.org, local"
    assert site_name("") == ""
    assert site_name("plain") == "plain"


def test_two_queues_of_one_site_are_two_choices() -> None:
    main, short = (f"cluster:22/jobmanager-slurm-{queue}" for queue in ("main", "short"))
    assert (choice_words([main]), choice_words([short])) == ("cluster, slurm-main", "cluster, slurm-short")
    grid = "ce.example.org:2119/jobmanager-pbs-long"
    assert choice_words((short, grid)) == f"cluster, slurm-short and {grid}"
    assert choice_words(()) == ""
