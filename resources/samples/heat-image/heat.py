#!/usr/bin/env python3
"""Simulate the flow of heat in a square plate and draw it. Standard library only.

Writes heat-01.png, heat-02.png, ... and temperature.csv.
"""

import argparse
import csv
import struct
import zlib


def start(side):
    """A cold plate with two hot spots."""
    plate = [[0.0] * side for _ in range(side)]
    for centre, size, heat in (((0.3, 0.35), 0.12, 100.0), ((0.68, 0.62), 0.17, 75.0)):
        for row in range(side):
            for column in range(side):
                away = ((row / side - centre[0]) ** 2 + (column / side - centre[1]) ** 2) ** 0.5
                if away < size:
                    plate[row][column] = heat
    return plate


def step(plate):
    """One explicit step of the heat equation; the edge stays cold."""
    side = len(plate)
    after = [[0.0] * side for _ in range(side)]
    for row in range(1, side - 1):
        above, here, below, out = plate[row - 1], plate[row], plate[row + 1], after[row]
        for column in range(1, side - 1):
            value = here[column]
            around = above[column] + below[column] + here[column - 1] + here[column + 1]
            out[column] = value + 0.22 * (around - 4 * value)
    return after


def colour(value):
    """Black over red and yellow to white, for 0 to 100."""
    level = max(0.0, min(value / 100, 1.0)) ** 0.6 * 3
    return tuple(int(255 * max(0.0, min(level - part, 1.0))) for part in range(3))


def save_png(plate, path, zoom=4):
    """Write the plate as a PNG, each cell `zoom` pixels wide."""
    rows = []
    for cells in plate:
        line = b"\0" + b"".join(bytes(colour(value)) * zoom for value in cells)
        rows.append(line * zoom)
    side = len(plate) * zoom
    header = struct.pack(">IIBBBBB", side, side, 8, 2, 0, 0, 0)
    with open(path, "wb") as stream:
        stream.write(b"\x89PNG\r\n\x1a\n")
        for kind, content in ((b"IHDR", header), (b"IDAT", zlib.compress(b"".join(rows))), (b"IEND", b"")):
            stream.write(struct.pack(">I", len(content)) + kind + content)
            stream.write(struct.pack(">I", zlib.crc32(kind + content)))


def main():
    """Run the simulation, and tell how it goes."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--side", type=int, default=96)
    options.add_argument("--steps", type=int, default=240)
    options.add_argument("--pictures", type=int, default=4)
    chosen = options.parse_args()
    plate = start(chosen.side)
    every = max(1, chosen.steps // chosen.pictures)
    with open("temperature.csv", "w", newline="") as stream:
        table = csv.writer(stream)
        table.writerow(["step", "mean", "hottest"])
        for number in range(1, chosen.steps + 1):
            plate = step(plate)
            mean = sum(map(sum, plate)) / chosen.side**2
            table.writerow([number, f"{mean:.4f}", f"{max(map(max, plate)):.4f}"])
            if number % every == 0:
                stream.flush()
                path = f"heat-{number // every:02d}.png"
                save_png(plate, path)
                print(f"step {number:4d}/{chosen.steps}  mean {mean:7.3f} degrees  {path}", flush=True)


main()
