# requires: numpy==2.2.6 pandas==2.2.3
"""Boosting of totally random trees with noisy leaves, after Maddock et al., "Federated boosted
decision trees with differential privacy" (2022): splits are drawn from the true ranges and
cost nothing, every tree releases the sums of gradients and the counts of its leaves by one
Gaussian mechanism each, composed as Gaussians. Own reference implementation.
"""

import math

import numpy as np
from common import one_hot, parse, run, zcdp


def boost(x, y, train, test, setting, args, clamp):
    """Scores of the test rows; y in [-1, 1], gradients y - f clamped to the interval [-clamp, clamp]."""
    random = np.random.default_rng()
    rounds, depth, rate = setting["rounds"], setting["depth"], setting["rate"]
    mu = math.sqrt(2 * zcdp(args.epsilon, args.delta) / rounds)
    sums, counts = clamp / (mu * math.sqrt(0.9)), 1 / (mu * math.sqrt(0.1))
    f = np.zeros(len(x))
    for _ in range(rounds):
        leaf = np.zeros(len(x), int)
        for _ in range(depth):
            j = random.integers(x.shape[1])
            low, high = x[:, j].min(), x[:, j].max()
            leaf = 2 * leaf + (x[:, j] > random.uniform(low, high))
        gradient = np.clip(y[train] - np.clip(f[train], -1, 1), -clamp, clamp)
        total = np.bincount(leaf[train], gradient, 2**depth) + random.normal(0, sums, 2**depth)
        number = np.bincount(leaf[train], minlength=2**depth) + random.normal(0, counts, 2**depth)
        f += rate * (total / np.maximum(number, max(3 * counts, 10)))[leaf]
    return np.clip(f[test], -1, 1)


def regressor(table, y, train, test, setting, args):
    middle, half = (y.max() + y.min()) / 2, (y.max() - y.min()) / 2
    return middle + half * boost(one_hot(table), (y - middle) / half, train, test, setting, args, setting["clamp"])


def classifier(table, y, train, test, setting, args):
    names, x = np.unique(y), one_hot(table)
    if len(names) == 2:
        return names[(boost(x, np.where(y == names[1], 1.0, -1.0), train, test, setting, args, 1.0) > 0).astype(int)]
    shared = type(args)(**{**vars(args), "epsilon": args.epsilon / len(names), "delta": args.delta / len(names)})
    return names[np.argmax([boost(x, np.where(y == c, 1.0, -1.0), train, test, setting, shared, 1.0) for c in names], axis=0)]


SETTINGS = [{"rounds": r, "depth": d, "rate": 0.3, "clamp": c} for r, d in ((30, 5), (60, 5), (100, 4)) for c in (0.25, 0.5)]
if __name__ == "__main__":
    run(parse(__doc__), "random trees", SETTINGS, regressor, classifier)
