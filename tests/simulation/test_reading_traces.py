"""Workload traces as they are found: the Standard Workload Format with the habits of those who write it."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from broker_core.client.package_data import data, folder
from broker_core.errors import BadRequest
from broker_core.simulation.partitions import peaks, share, sites_of
from broker_core.simulation.swf import read_swf
from broker_core.simulation.trace import WorkloadTrace

CUT = "traces/lcg-2005.swf.gz"


def read(tmp_path: Path, text: str) -> WorkloadTrace:
    path = tmp_path / "made.swf"
    path.write_text(text)
    return read_swf(path)


def line(number: int, submit: float, run: float, cpus: int, **more: float) -> str:
    fields: list[float] = [number, submit, -1, run, cpus, -1, -1, -1, -1, -1, 1, 1, 1, -1, -1, -1, -1, -1]
    places = {"wait": 2, "asked_cpus": 7, "limit": 8, "partition": 15}
    for name, value in more.items():
        fields[places[name]] = value
    return " ".join(f"{field:.12g}" for field in fields) + "\n"


def test_the_cut_of_the_real_log_is_whole_and_says_whose_it_is() -> None:
    trace = read_swf(folder(CUT))
    assert len(trace) == 12_000
    assert trace.left_out == 0
    assert trace.processors == 24_515
    assert len(trace.partitions) == 170
    assert trace.partitions[10] == "usc.cesga.es"
    assert trace.begin == 1132444805
    assert trace.header["Acknowledge"] == "Hui Li"
    assert trace.cpus.count(1) == 12_000
    assert "Parallel Workloads" in data("traces/README.txt").decode()
    assert len(data(CUT)) < 200_000


def test_gzip_is_told_by_content_not_by_name(tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_bytes(gzip.compress(line(1, 0, 5, 2).encode()))
    assert read_swf(path).run == [5.0]


def test_blank_lines_padding_and_fractions_are_taken(tmp_path: Path) -> None:
    trace = read(tmp_path, f"\n   {line(1, 10, 129.02, 50)} \n\n{line(2, 12, 3, 1)}\n")
    assert (trace.submit, trace.run) == ([0.0, 2.0], [129.02, 3.0])


def test_what_follows_the_eighteenth_field_is_left_aside(tmp_path: Path) -> None:
    plain = line(0, 1356996147, 56011, 64).strip()
    trace = read(tmp_path, f"{plain} {{1241,1241}} q_1d 1:ppn=64:x86_64:cl_zewura#excl\n")
    assert trace.begin == 1356996147, "moments of the epoch become seconds of the trace"
    assert trace.submit == [0.0]


def test_jobs_out_of_order_are_sorted_by_their_submission(tmp_path: Path) -> None:
    trace = read(tmp_path, line(1, 9, 1, 1) + line(2, 4, 2, 1) + line(3, 9, 3, 1))
    assert (trace.submit, trace.run) == ([0.0, 5.0, 5.0], [2.0, 1.0, 3.0])


def test_processors_are_those_allocated_else_those_requested(tmp_path: Path) -> None:
    trace = read(tmp_path, line(1, 0, 1, 4, asked_cpus=8) + line(2, 0, 1, -1, asked_cpus=8))
    assert trace.cpus == [4, 8]


def test_jobs_that_cannot_be_replayed_are_counted(tmp_path: Path) -> None:
    trace = read(tmp_path, line(1, 0, -1, 1) + line(2, 0, 1, -1) + line(3, 0, 1, 1))
    assert (len(trace), trace.left_out) == (1, 2)


def test_a_line_that_is_no_job_is_named(tmp_path: Path) -> None:
    with pytest.raises(BadRequest) as caught:
        read(tmp_path, "; Version: 2.2\n" + line(1, 0, 1, 1) + "name,submit,run\n")
    assert caught.value.place == "made.swf:3"
    assert "18 numbers" in caught.value.remedy


@pytest.mark.parametrize("content", [b"\x1f\x8bnot gzip", gzip.compress(b"1 2 3", mtime=0)[:-6], b""])
def test_a_file_that_is_no_trace_is_told_in_words(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "broken.swf.gz"
    path.write_bytes(content)
    with pytest.raises(BadRequest):
        read_swf(path)
    with pytest.raises(BadRequest):
        read_swf(tmp_path / "nowhere.swf")


def test_the_peak_counts_processors_held_at_once(tmp_path: Path) -> None:
    trace = read(
        tmp_path,
        line(1, 0, 10, 2, partition=1) + line(2, 5, 10, 3, partition=1) + line(3, 10, 5, 1, partition=1)
        + line(4, 0, 10, 1, partition=2) + line(5, 5, 10, 1, partition=2, wait=5),
    )  # fmt: skip
    assert peaks(trace) == {1: 5, 2: 1}, "one that ends makes room for one that starts at that moment"


def test_processors_are_shared_out_to_the_last_by_the_peaks() -> None:
    assert share(100, {1: 1, 2: 1, 3: 2}) == {1: 25, 2: 25, 3: 50}
    assert share(10, {1: 1, 2: 1, 3: 1}) == {1: 4, 2: 3, 3: 3}
    assert share(20, {1: 1, 2: 500, 3: 1, 4: 499}) == {1: 1, 2: 9, 3: 1, 4: 9}
    assert share(2, {1: 5, 2: 5, 3: 5}) == {1: 1, 2: 1, 3: 1}, "at least one each"


def test_a_site_holds_its_widest_job_and_has_the_name_of_its_partition(tmp_path: Path) -> None:
    text = "; MaxProcs: 12\n; Partition: 1 usc.cesga.es\n"
    text += line(1, 0, 5, 8, partition=1) + line(2, 90, 5, 1, partition=2)
    sites = sites_of(read(tmp_path, text))
    assert [(site.name, site.cpus) for site in sites] == [("usc.cesga.es", 11), ("partition2", 1)]
    assert sum(site.cpus for site in sites_of(read_swf(folder(CUT)))) == 24_515
