#!/usr/bin/env python3
"""Reduce hourly measurements of several stations to daily figures. Standard library only.

Each input file has the columns hour, temperature and humidity; empty cells are gaps. Writes summary.csv.
"""

import csv
import statistics
import sys


def days(path):
    """Day number to the temperatures of that day, and the number of gaps."""
    found, gaps = {}, {}
    with open(path, newline="") as stream:
        for row in csv.DictReader(stream):
            day = int(row["hour"]) // 24 + 1
            if row["temperature"]:
                found.setdefault(day, []).append(float(row["temperature"]))
            else:
                gaps[day] = gaps.get(day, 0) + 1
    return found, gaps


def main(paths):
    """Write the table, and tell what was read."""
    with open("summary.csv", "w", newline="") as stream:
        table = csv.writer(stream)
        table.writerow(["station", "day", "mean", "spread", "lowest", "highest", "gaps"])
        for path in paths:
            found, gaps = days(path)
            station = path.removeprefix("station-").removesuffix(".csv")
            for day, values in sorted(found.items()):
                spread = statistics.pstdev(values)
                figures = (statistics.mean(values), spread, min(values), max(values))
                table.writerow([station, day, *(f"{figure:.2f}" for figure in figures), gaps.get(day, 0)])
            missing = sum(gaps.values())
            print(f"{station:10s} {sum(map(len, found.values())):5d} hours, {missing} missing", flush=True)
    print("summary.csv written")


main(sys.argv[1:])
