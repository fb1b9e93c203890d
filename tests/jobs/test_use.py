"""What a job used: its samples read back, in words, and as better figures."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from broker_core.jobs.use import AskedFor, Used, UseSample, better, busy, in_words, samples_of, used

GB = 1 << 30


def test_samples_come_back_as_they_were_written() -> None:
    written = [UseSample(0, 0.5, 4096, 8192), UseSample(30, 15.5, 1 << 20), UseSample(60, 45.0, 2 << 20)]
    assert samples_of("".join(one.line() for one in written).encode()) == written
    assert busy(written) == [0.5, pytest.approx(29.5 / 30)]


def test_gpus_are_read_and_what_a_job_wrote_there_is_left_out() -> None:
    raw = b"0 10 100 - 50 2\nx y\n5 1 1 1 1\n0 20 100 - - -\n-3 1 1 - - -\n9 12 5 7 150 3\n"
    assert [(one.seconds, one.gpu_percent, one.gpu_memory) for one in samples_of(raw)] == [
        (0, 50, 2 << 20),
        (9, 150, 3 << 20),
    ]


@given(st.binary(max_size=300))
def test_any_file_is_read(raw: bytes) -> None:
    found = samples_of(raw)
    assert [one.seconds for one in found] == sorted({one.seconds for one in found})
    in_words(used(found, {}), AskedFor(1))


def test_asked_against_used_in_words() -> None:
    samples = [UseSample(0, 0.0, GB), UseSample(100, 90.0, int(1.2 * GB), GB * 3)]
    assert in_words(used(samples, {}), AskedFor(8, 16 * GB)) == (
        "Used 1.2 of 16 GB of memory, 0.9 of 8 CPUs and 3.0 GB of disk."
    )
    by_end = used([], {"wall_s": 10.0, "cpu_s": 5.0, "max_rss_bytes": 50 << 20})
    assert in_words(by_end, AskedFor(1)) == "Used 50 MB of memory and 0.5 of 1 CPU."
    assert in_words(used([], {}), AskedFor(1)) == ""


def test_better_figures_have_room_to_spare_and_come_only_where_they_differ() -> None:
    found = Used(memory=GB, wall_s=1000.0)
    assert better(found, AskedFor(1, 16 * GB, 86400.0)) == {"MemoryPerNode": "1300", "WallTime": '"25m"'}
    assert better(found, AskedFor(1, 1300 << 20, 1500.0)) == {}
    assert better(Used(), AskedFor(1)) == {}


def test_fewer_cpus_and_gpus_are_proposed_by_the_busiest_moment() -> None:
    samples = samples_of(b"0 0 1000 - - -\n10 1000 1000 - 40 9\n20 4000 1000 - 105 9\n30 4100 1000 - 0 9\n")
    found = used(samples, {"wall_s": 30.0, "cpu_s": 41.0})
    assert (found.most_cpus, found.most_gpus) == (3.0, 1.05)
    changes = better(found, AskedFor(8, 100 << 20, 300.0, gpus=4))
    assert changes == {"CpuNumber": "3", "GPUNumber": "1", "MemoryPerNode": "100"}
    assert better(found, AskedFor(3, 100 << 20, 300.0, gpus=1)) == {}
    assert "CpuNumber" not in better(found, AskedFor(8, one_program=False))
    assert "CpuNumber" not in better(used([], {"wall_s": 30.0, "cpu_s": 1.0}), AskedFor(8))
