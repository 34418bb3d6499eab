# requires: numpy==2.2.6 pandas==2.2.3
"""A neural network by full-batch gradient descent with clipping per record and Gaussian noise
(DP-GD; Abadi et al. 2016 without sampling), told the true bounds. Own implementation: with
full batches no amplification is needed, and the exact Gaussian composition applies. With
"ranks" it is told the true distribution of every column too.
"""

import math

import numpy as np
from common import one_hot, parse, ranks, run, zcdp


def descend(x, y, train, test, setting, args):
    """Scores of the test rows; y has one column a score."""
    random, rounds, clip = np.random.default_rng(), setting["rounds"], setting["clip"]
    sigma = clip / math.sqrt(2 * zcdp(args.epsilon, args.delta) / rounds)
    one = lambda a: np.column_stack([a, np.ones(len(a))])  # noqa: E731
    sizes = [x.shape[1] + 1, *setting["hidden"], y.shape[1]]
    weights = [random.normal(0, math.sqrt(2 / a), (a + (i > 0), b)) for i, (a, b) in enumerate(zip(sizes, sizes[1:]))]
    weights[-1] *= 0.1
    momentum = [0 * w for w in weights]

    def forward(a):
        out = [one(a)]
        for i, w in enumerate(weights):
            a = out[-1] @ w
            out.append(one(np.maximum(a, 0)) if i < len(weights) - 1 else a)
        return out

    n = len(train)
    for t in range(rounds):
        a = forward(x[train])
        slope, slopes = np.clip(a[-1] - y[train], -1, 1), []
        for i in range(len(weights) - 1, -1, -1):
            slopes.insert(0, slope)
            slope = (slope @ weights[i].T)[:, :-1] * (a[i][:, :-1] > 0) if i else None
        norm = np.sqrt(sum((p * p).sum(1) * (q * q).sum(1) for p, q in zip(a, slopes)))
        shorten = np.minimum(1, clip / np.maximum(norm, 1e-12))[:, None]
        for i, w in enumerate(weights):
            gradient = (a[i].T @ (slopes[i] * shorten) + random.normal(0, sigma, w.shape)) / n
            momentum[i] = 0.9 * momentum[i] + gradient
            weights[i] = w - setting["rate"] * momentum[i] * 0.5 * (1 + math.cos(math.pi * t / rounds)) / clip
    return forward(x[test])[-1]


def features(table, setting):
    return ranks(table) if setting["told"] == "ranks" else one_hot(table)


def regressor(table, y, train, test, setting, args):
    middle, half = (y.max() + y.min()) / 2, (y.max() - y.min()) / 2
    return middle + half * np.clip(descend(features(table, setting), (y[:, None] - middle) / half, train, test, setting, args)[:, 0], -1, 1)


def classifier(table, y, train, test, setting, args):
    names = np.unique(y)
    goal = np.where(y[:, None] == names[None], 1.0, -1.0) / math.sqrt(len(names))
    return names[np.argmax(descend(features(table, setting), goal, train, test, setting, args), axis=1)]


SETTINGS = [{"told": t, "rounds": r, "hidden": h, "clip": 0.5, "rate": 0.5}
            for t in ("bounds", "ranks") for r, h in ((60, (32,)), (150, (32,)), (150, (64, 32)), (400, (32,)))]  # fmt: skip
if __name__ == "__main__":
    run(parse(__doc__), "DP-GD network", SETTINGS, regressor, classifier)
