"""Generated graphs by doc/graphs.md alone, as edge lists to compare with.

usage: generate_oracle.py MODEL KEY=VALUE...   prints "source target weight" lines
"""

import math
import struct
import sys

M64 = 2**64 - 1


def philox(seed, stream, index, part=0):
    key = [seed & 0xFFFFFFFF, seed >> 32]
    counter = [index & 0xFFFFFFFF, index >> 32, part, stream]
    for _ in range(10):
        low = 0xD2511F53 * counter[0]
        high = 0xCD9E8D57 * counter[2]
        counter = [
            (high >> 32) ^ counter[1] ^ key[0],
            high & 0xFFFFFFFF,
            (low >> 32) ^ counter[3] ^ key[1],
            low & 0xFFFFFFFF,
        ]
        key = [(key[0] + 0x9E3779B9) & 0xFFFFFFFF, (key[1] + 0xBB67AE85) & 0xFFFFFFFF]
    return counter


def halves(words):
    return words[0] | words[1] << 32, words[2] | words[3] << 32


def f32(value):
    return struct.unpack("f", struct.pack("f", value))[0]


class Rmat:
    def __init__(self, scale, seed, abcd=(0.57, 0.19, 0.19, 0.05), scramble=True):
        self.scale, self.seed, self.scramble = scale, seed, scramble
        self.n = 2**scale
        total = abcd[0] + abcd[1] + abcd[2] + abcd[3]
        self._table([p / total for p in abcd])
        draws = [halves(philox(seed, 2, i))[0] for i in range(5)]
        self.add, self.multiply = draws[0], [u | 1 for u in draws[1:]]

    def _table(self, abcd):
        shares = []
        for i in range(4096):
            share = 2.0**32
            for level in range(5, -1, -1):
                share *= abcd[2 * (i >> 6 + level & 1) + (i >> level & 1)]
            shares.append(share)
        units = [math.floor(s) for s in shares]
        missing = 2**32 - sum(units)
        for i in sorted(range(4096), key=lambda i: (units[i] - shares[i], i))[:missing]:
            units[i] += 1
        self.own, self.other = [0] * 4096, list(range(4096))
        small = [i for i in range(4095, -1, -1) if units[i] < 2**20]
        large = [i for i in range(4095, -1, -1) if units[i] >= 2**20]
        while small and large:
            s, top = small.pop(), large[-1]
            self.own[s], self.other[s] = units[s], top
            units[top] -= 2**20 - units[s]
            if units[top] < 2**20:
                small.append(large.pop())

    def label(self, x):
        x = (x + self.add) & M64
        for m in self.multiply:
            x = x * m % 2**self.scale
            x ^= x >> max(1, -(-self.scale // 2))
        return x

    def tuple(self, e):
        source = target = 0
        levels = 48 if self.scale > 24 else 24
        for part in range(levels // 24):
            for w in philox(self.seed, 1, e, part):
                column = w >> 20
                i = column if w % 2**20 < self.own[column] else self.other[column]
                source, target = source << 6 | i >> 6, target << 6 | i & 63
        ends = source >> levels - self.scale, target >> levels - self.scale
        return tuple(map(self.label, ends)) if self.scramble else ends


class ErdosRenyi:
    def __init__(self, vertices, seed, directed):
        self.n, self.directed = vertices, directed
        if directed:
            self.wide, self.high = vertices, vertices - 1
        elif vertices % 2:
            self.wide, self.high = vertices, (vertices - 1) // 2
        else:
            self.wide, self.high = vertices - 1, vertices // 2
        self.key = [halves(philox(seed, 3, r))[0] for r in range(12)]

    @staticmethod
    def shift(key, z, bound):
        t = (z + key) * 0xBF58476D1CE4E5B9 & M64
        t = (t ^ t >> 32) * 0x94D049BB133111EB & M64
        return t * bound >> 64

    def tuple(self, e):
        x, y = e % self.wide, e // self.wide
        for r in range(0, 12, 2):
            y = (y + self.shift(self.key[r], x, self.high)) % self.high
            x = (x + self.shift(self.key[r + 1], y, self.wide)) % self.wide
        if self.directed or self.n % 2:
            return x, (x + 1 + y) % self.n
        return x, (x + y) % (self.n - 1) if y else self.n - 1


class Graph500:
    P = 2**31 - 1

    def __init__(self, scale, seed1, seed2):
        self.scale = scale
        self.start = [
            seed1 % 2**30 + 1,
            (seed1 >> 30) % 2**30 + 1,
            seed2 % 2**30 + 1,
            (seed2 >> 30) % 2**30 + 1,
            16 * (seed2 >> 60) + (seed1 >> 60) + 1,
        ]
        state = self.skip(50 * 2**128 + 7 * 2**64)
        d = [self.draw(state) for _ in range(4)]
        self.v = [(d[0] * (2**32 - 1) + d[1]) & M64, (d[2] * (2**32 - 1) + d[3]) & M64]

    def draw(self, state):
        new = (107374182 * state[0] + 104480 * state[4]) % self.P
        state[:] = [new, *state[:4]]
        return new

    def skip(self, steps):
        matrix = [[107374182, 0, 0, 0, 104480]]
        matrix += [[int(c == r) for c in range(5)] for r in range(4)]
        state = list(self.start)
        while steps:
            if steps & 1:
                state = [sum(m * z for m, z in zip(row, state)) % self.P for row in matrix]
            columns = list(zip(*matrix))
            matrix = [
                [sum(a * b for a, b in zip(row, column)) % self.P for column in columns]
                for row in matrix
            ]
            steps >>= 1
        return state

    def label(self, x):
        def reverse(v):
            return int(f"{v & M64:064b}"[::-1], 2)

        x = (x + self.v[0] + self.v[1]) * (self.v[0] | 0x4519840211493211)
        x = reverse(x) >> 64 - self.scale
        return reverse(x * (self.v[1] | 0x3050852102C843A5)) >> 64 - self.scale

    def tuple(self, e):
        state = self.skip(e * 2**64)
        source = target = 0
        for _ in range(self.scale):
            v = self.draw(state)
            while v < 3647:
                v = self.draw(state)
            v %= 10000
            bits = (0, 1) if v < 1900 else (1, 0) if v < 3800 else (0, 0) if v < 9500 else (1, 1)
            if source == target and bits == (1, 0):
                bits = (0, 1)
            source, target = 2 * source + bits[0], 2 * target + bits[1]
        self.last = f32(f32(float(self.draw(state))) * 4.65661287524579692e-10)
        return self.label(source), self.label(target)


def weight(kind, seed, e, ends):
    word = philox(seed, 5, e // 4)[e % 4]
    if kind == "uniform":
        return (word >> 8) * 2.0**-24
    if kind == "signed":
        h = [philox(seed, 6, v // 4)[v % 4] % 16 for v in ends]
        return float(word % 8 + h[0] - h[1])
    low, high = map(int, kind.split(":")[1:])
    return low + (halves(philox(seed, 5, e // 2))[e % 2] * (high - low + 1) >> 64)


def main():
    model, options = sys.argv[1], dict(word.split("=") for word in sys.argv[2:])
    number = {k: int(v) for k, v in options.items() if k != "weights"}
    kind, seed = options["weights"], number.get("seed", 1)
    if model == "rmat":
        graph = Rmat(number["scale"], seed)
    elif model == "erdos-renyi":
        graph = ErdosRenyi(number["vertices"], seed, number.get("directed", 0))
    else:
        graph = Graph500(number["scale"], number["seed1"], number["seed2"])
        seed = (number["seed1"] + 0x9E3779B97F4A7C15 * number["seed2"]) & M64
    for e in range(number["edges"]):
        ends = graph.tuple(e)
        own = model == "graph500" and kind == "uniform"
        print(*ends, shortest(graph.last if own else weight(kind, seed, e, ends)))


def shortest(value: float) -> str:
    """The shortest text that reads back as the same float."""
    (single,) = struct.unpack("f", struct.pack("f", value))
    if abs(single) < 2**24 and single == int(single):
        return str(int(single))
    texts = (f"{single:.{digits}g}" for digits in range(1, 10))
    return next(t for t in texts if struct.pack("f", float(t)) == struct.pack("f", single))


if __name__ == "__main__":
    main()
