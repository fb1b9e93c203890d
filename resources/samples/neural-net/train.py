#!/usr/bin/env python3
"""Train a small neural network to tell two spirals apart. Standard library only.

Prints one line for each epoch, writes losses.csv as it goes and decision.png at the end. Learning rate and
momentum can be changed meanwhile, in the View tab of the job or by `crossdesk job set`.
"""

import argparse
import csv
import math
import random
import struct
import zlib

try:
    import crossdesk_publish as publish
except ImportError:  # outside of a job
    publish = None


def spirals(points, chance):
    """Points of two spirals: (x, y, 0 or 1)."""
    rows = []
    for number in range(points):
        kind = number % 2
        turn = 0.4 + 2.6 * math.pi * chance.random() ** 0.5
        angle = turn + kind * math.pi
        noise = 0.04
        rows.append((
            turn / 8.6 * math.cos(angle) + chance.gauss(0, noise),
            turn / 8.6 * math.sin(angle) + chance.gauss(0, noise),
            kind,
        ))
    return rows


def features(x, y):
    """What the network sees of a point."""
    return (x, y, x * x, y * y, x * y, math.sin(4 * x), math.sin(4 * y), math.hypot(x, y))


class Layer:
    """A dense layer with tanh, trained by gradient descent with momentum."""

    def __init__(self, inputs, outputs, chance):
        scale = math.sqrt(1.5 / inputs)
        self.weights = [[chance.gauss(0, scale) for _ in range(inputs)] for _ in range(outputs)]
        self.biases = [0.0] * outputs
        self.speed = [[0.0] * inputs for _ in range(outputs)]

    def forward(self, inputs):
        """Outputs for one point; what backward needs is kept."""
        self.inputs = inputs
        self.outputs = [
            math.tanh(bias + sum(weight * value for weight, value in zip(row, inputs)))
            for row, bias in zip(self.weights, self.biases)
        ]
        return self.outputs

    def backward(self, errors, rate, momentum):
        """Take one step against `errors`; returns the errors of the inputs."""
        slopes = [error * (1 - out * out) for error, out in zip(errors, self.outputs)]
        below = [0.0] * len(self.inputs)
        for row, speed, slope in zip(self.weights, self.speed, slopes):
            step = rate * slope
            for index, value in enumerate(self.inputs):
                below[index] += slope * row[index]
                speed[index] = momentum * speed[index] - step * value
                row[index] += speed[index]
        for index, slope in enumerate(slopes):
            self.biases[index] -= rate * slope
        return below


def predict(layers, x, y):
    """A number from -1 (first spiral) to 1 (second)."""
    values = features(x, y)
    for layer in layers:
        values = layer.forward(values)
    return values[0]


def epoch(layers, rows, rate, momentum, chance):
    """One pass over all points; returns mean loss and share of right answers."""
    chance.shuffle(rows)
    loss = right = 0.0
    for x, y, kind in rows:
        wanted = 2 * kind - 1
        error = predict(layers, x, y) - wanted
        loss += error * error
        right += abs(error) < 1
        errors = [error]
        for layer in reversed(layers):
            errors = layer.backward(errors, rate, momentum)
    return loss / len(rows), right / len(rows)


def save_picture(layers, path, side=160):
    """What the network answers over the plane, as a PNG."""
    lines = []
    for row in range(side):
        line = bytearray([0])
        for column in range(side):
            answer = predict(layers, 2.2 * column / side - 1.1, 1.1 - 2.2 * row / side)
            line += bytes((int(110 + 100 * answer), 120, int(130 - 100 * answer)))
        lines.append(bytes(line))
    header = struct.pack(">IIBBBBB", side, side, 8, 2, 0, 0, 0)
    with open(path, "wb") as stream:
        stream.write(b"\x89PNG\r\n\x1a\n")
        for kind, content in ((b"IHDR", header), (b"IDAT", zlib.compress(b"".join(lines))), (b"IEND", b"")):
            stream.write(struct.pack(">I", len(content)) + kind + content)
            stream.write(struct.pack(">I", zlib.crc32(kind + content)))


class Fixed:
    """A parameter that nobody changes: outside of a job."""

    def __init__(self, name, value, **about):
        self.value = value


def show(layers, number, epochs, loss, right):
    """What the View tab of the job draws live: curves, how far it is, and what the network answers."""
    publish.series(number, loss=loss, accuracy=right)
    publish.progress(number / epochs, f"epoch {number} of {epochs}")
    if number % 5 == 0:
        side = [step / 20 - 1.1 for step in range(45)]
        publish.array("answers", [[predict(layers, x, -y) for x in side] for y in side])


def main():
    """Train, and tell how it goes."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--epochs", type=int, default=60)
    options.add_argument("--points", type=int, default=240)
    options.add_argument("--seed", type=int, default=7)
    chosen = options.parse_args()
    chance = random.Random(chosen.seed)
    rows = spirals(chosen.points, chance)
    layers = [Layer(8, 16, chance), Layer(16, 8, chance), Layer(8, 1, chance)]
    parameter = publish.parameter if publish else Fixed
    rate = parameter("learning rate", 0.05, minimum=0.001, maximum=0.5)
    momentum = parameter("momentum", 0.6, minimum=0.0, maximum=0.95)
    print(f"{chosen.points} points, network 8-16-8-1, {chosen.epochs} epochs", flush=True)
    with open("losses.csv", "w", newline="") as stream:
        table = csv.writer(stream)
        table.writerow(["epoch", "loss", "accuracy"])
        for number in range(1, chosen.epochs + 1):
            step = rate.value / (1 + number / 40)
            loss, right = epoch(layers, rows, step, momentum.value, chance)
            table.writerow([number, f"{loss:.6f}", f"{right:.4f}"])
            stream.flush()
            if publish:
                show(layers, number, chosen.epochs, loss, right)
            print(f"epoch {number:3d}/{chosen.epochs}  loss {loss:.4f}  accuracy {right:6.1%}", flush=True)
    save_picture(layers, "decision.png")
    print("losses.csv and decision.png written", flush=True)


main()
