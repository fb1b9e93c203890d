#!/usr/bin/env python3
"""Find weights of pencil beams that irradiate a tumour and spare an organ. Standard library only.

The patient file has one voxel a line: x, y (cm) and tissue (tumour, organ or body).
Writes weights.csv and dose-volume.csv.
"""

import argparse
import csv
import math

WANTED = {"tumour": 60.0, "organ": 0.0, "body": 0.0}
IMPORTANCE = {"tumour": 1.0, "organ": 0.35, "body": 0.04}


def read(path):
    """Voxels as (x, y, tissue)."""
    with open(path, newline="") as stream:
        return [(float(x), float(y), tissue) for x, y, tissue in list(csv.reader(stream))[1:]]


def deposit(voxel, angle, offset):
    """Dose of a pencil beam of weight one in a voxel."""
    x, y, _ = voxel
    depth = 12 + x * math.cos(angle) + y * math.sin(angle)
    aside = -x * math.sin(angle) + y * math.cos(angle) - offset
    return math.exp(-0.05 * depth) * math.exp(-(aside * aside) / 0.9)


def matrix(voxels, beams):
    """For each voxel the dose of every beam."""
    directions, lanes = beams // 6, 6
    places = [
        (2 * math.pi * turn / directions, 1.4 * (lane - (lanes - 1) / 2))
        for turn in range(directions)
        for lane in range(lanes)
    ]
    return [[deposit(voxel, angle, offset) for angle, offset in places] for voxel in voxels]


def improve(doses, voxels, weights, rate):
    """One round of projected gradient descent; returns the penalty before it."""
    slope = [0.0] * len(weights)
    penalty = 0.0
    for row, (_, _, tissue) in zip(doses, voxels):
        got = sum(dose * weight for dose, weight in zip(row, weights))
        over = got - WANTED[tissue]
        pull = IMPORTANCE[tissue] * over
        penalty += pull * over
        for index, dose in enumerate(row):
            slope[index] += pull * dose
    for index, value in enumerate(slope):
        weights[index] = max(0.0, weights[index] - rate * value / len(voxels))
    return penalty / len(voxels)


def volumes(doses, voxels, weights):
    """Share of each tissue that gets at least a dose: rows of (dose, tumour, organ, body)."""
    got = {tissue: [] for tissue in WANTED}
    for row, (_, _, tissue) in zip(doses, voxels):
        got[tissue].append(sum(dose * weight for dose, weight in zip(row, weights)))
    for level in range(0, 81, 2):
        shares = [sum(dose >= level for dose in got[tissue]) / len(got[tissue]) for tissue in WANTED]
        yield [level, *(f"{share:.4f}" for share in shares)]


def main():
    """Plan, and tell how it goes."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("patient")
    options.add_argument("--beams", type=int, default=48)
    options.add_argument("--rounds", type=int, default=120)
    chosen = options.parse_args()
    voxels = read(chosen.patient)
    doses = matrix(voxels, chosen.beams)
    weights = [10.0] * len(doses[0])
    print(f"{len(voxels)} voxels, {len(weights)} beams", flush=True)
    for number in range(1, chosen.rounds + 1):
        penalty = improve(doses, voxels, weights, 0.8)
        if number % 50 == 0:
            print(f"round {number:4d}/{chosen.rounds}  penalty {penalty:9.3f}", flush=True)
    with open("weights.csv", "w", newline="") as stream:
        csv.writer(stream).writerows([["beam", "weight"], *([n, f"{w:.4f}"] for n, w in enumerate(weights))])
    with open("dose-volume.csv", "w", newline="") as stream:
        csv.writer(stream).writerows([["dose_gray", *WANTED], *volumes(doses, voxels, weights)])


main()
