# requires: numpy==2.2.6 pandas==2.2.3
"""Boosting of totally random trees with noisy leaves, after Maddock et al., "Federated boosted
decision trees with differential privacy" (2022): splits are drawn from the true ranges and
cost nothing, every tree releases the sums of gradients and the counts of its leaves by one
Gaussian mechanism each, composed as Gaussians. Own reference implementation. With "ranks" it
is told the true distribution of every column too.
"""

import math

import numpy as np
from common import one_hot, parse, ranks, run, zcdp


def boost(x, y, train, test, setting, args, clamp):
    """Scores of the test rows, one column a score; y in [-1, 1], gradients y - f shortened to the norm clamp.

    With more than one score the gradients of a record are one vector, so that all scores share the trees and the budget.
    """
    random = np.random.default_rng()
    rounds, depth, rate = setting["rounds"], setting["depth"], setting["rate"]
    mu = math.sqrt(2 * zcdp(args.epsilon, args.delta) / rounds)
    sums, counts = clamp / (mu * math.sqrt(0.9)), 1 / (mu * math.sqrt(0.1))
    f, leaves = np.zeros(y.shape), 2**depth
    for _ in range(rounds):
        leaf = np.zeros(len(x), int)
        for _ in range(depth):
            j = random.integers(x.shape[1])
            low, high = x[:, j].min(), x[:, j].max()
            leaf = 2 * leaf + (x[:, j] > random.uniform(low, high))
        gradient = y[train] - np.clip(f[train], -1, 1)
        gradient *= np.minimum(1, clamp / np.maximum(np.linalg.norm(gradient, axis=1, keepdims=True), 1e-12))
        total = np.stack([np.bincount(leaf[train], g, leaves) for g in gradient.T], axis=1) + random.normal(0, sums, (leaves, y.shape[1]))
        number = np.bincount(leaf[train], minlength=leaves) + random.normal(0, counts, leaves)
        f += rate * (total / np.maximum(number, max(3 * counts, 10))[:, None])[leaf]
    return np.clip(f[test], -1, 1)


def features(table, setting):
    return ranks(table) if setting["told"] == "ranks" else one_hot(table)


def regressor(table, y, train, test, setting, args):
    middle, half = (y.max() + y.min()) / 2, (y.max() - y.min()) / 2
    return middle + half * boost(features(table, setting), (y[:, None] - middle) / half, train, test, setting, args, setting["clamp"])[:, 0]


def classifier(table, y, train, test, setting, args):
    names, x = np.unique(y), features(table, setting)
    if len(names) == 2:
        goal = np.where(y == names[1], 1.0, -1.0)[:, None]
        return names[(boost(x, goal, train, test, setting, args, 2 * setting["clamp"])[:, 0] > 0).astype(int)]
    goal = (y[:, None] == names[None]) - 1.0 / len(names)
    return names[np.argmax(boost(x, goal, train, test, setting, args, 2 * setting["clamp"]), axis=1)]


SETTINGS = [{"told": t, "rounds": r, "depth": d, "rate": 0.3, "clamp": c}
            for t in ("bounds", "ranks") for r, d in ((30, 5), (60, 5), (100, 4), (200, 4)) for c in (0.25, 0.5)]  # fmt: skip
if __name__ == "__main__":
    run(parse(__doc__), "random trees", SETTINGS, regressor, classifier)
