"""Numbers of an independent accountant (dp-accounting) for docs/proofs/prices.md, "Checks".

    pip install dp-accounting==0.6.0
    python3 scripts/check-prices.py

It prints the values that budget/mixture_test.go compares with. Laws of outputs are cut into
cells, which can only lose privacy loss, and handed over as tables of probabilities.
"""
import math

import numpy as np
from dp_accounting.pld import privacy_loss_distribution as pld
from scipy import stats

STEP = 1e-4


def gaussian(mu, width=.04):
    """Cells of N(mu, 1) and N(0, 1)."""
    edges = np.concatenate([[-np.inf], np.arange(-9, 9 + mu, width), [np.inf]])
    return cells(stats.norm(loc=mu), edges), cells(stats.norm, edges)


def laplace(epsilon, per=8):
    """Cells of Laplace noise of scale 1 around epsilon and 0."""
    edges = np.concatenate([[-np.inf], np.arange(-25 * per, 26 * per) * (epsilon / per), [np.inf]])
    return cells(stats.laplace(loc=epsilon), edges), cells(stats.laplace, edges)


def cells(law, edges):
    lower = np.diff(law.cdf(edges))
    upper = -np.diff(law.sf(edges))
    return np.where(edges[:-1] > 0, upper, lower)


def response(epsilon):
    p = 1 / (1 + math.exp(-epsilon))
    return np.array([p, 1 - p]), np.array([1 - p, p])


def product(*pairs):
    p, q = np.ones(1), np.ones(1)
    for a, b in pairs:
        p, q = np.outer(p, a).ravel(), np.outer(q, b).ravel()
    return p, q


def deltas(p, q, epsilons):
    keep = (p > 0) & (q > 0)
    both = []
    for lower, upper in ((q[keep], p[keep]), (p[keep], q[keep])):
        d = pld.from_two_probability_mass_functions(
            dict(enumerate(np.log(lower))), dict(enumerate(np.log(upper))),
            value_discretization_interval=STEP, pessimistic_estimate=False, symmetric=True)
        both.append([d.get_delta_for_epsilon(e) for e in epsilons])
    return np.max(both, axis=0)


def mixture(h, first, second, epsilons):
    p, q = product(first, second)
    a, _ = product(first, (second[1], second[1]))
    b, _ = product((first[1], first[1]), second)
    return deltas((1 - h) * a + h * b, q, epsilons)


def best(pair, gamma):
    """The law of the best of K draws of a pair whose outcomes are in the order of their scores."""
    def phi(law):
        below = np.concatenate([[0], np.cumsum(law)])
        return np.diff(np.log1p(-(1 - gamma) * np.minimum(below, 1)) / math.log(gamma))
    return phi(pair[0]), phi(pair[1])


def main():
    epsilons = [.1, .5, 1, 2]

    def show(name, values):
        print('%-34s' % name, ', '.join('%.10g' % v for v in values))

    print('mixtures, delta at epsilon', epsilons)
    show('G(.25) | G(.5), h .1', mixture(.1, gaussian(.25), gaussian(.5), epsilons))
    show('G(.5) | G(.8), h .2', mixture(.2, gaussian(.5), gaussian(.8), epsilons))
    show('G(.3)+L(.4) | G(.6), h .1', mixture(.1, product(gaussian(.3, .1), laplace(.4, 2)), gaussian(.6, .1), epsilons))
    show('R(.8) | R(1.6), h .25', mixture(.25, response(.8), response(1.6), epsilons))
    print('the second kid alone (Poisson sampling)')
    for mu, h in ((.5, .1), (1, .2)):
        d = pld.from_gaussian_mechanism(1 / mu, sampling_prob=h, value_discretization_interval=STEP, use_connect_dots=True)
        show('G(%g), h %g' % (mu, h), [d.get_delta_for_epsilon(e) for e in epsilons])
    print('the best of K draws: attained')
    for mu, mean, gamma in ((.1, 5, 0.0699209), (.3, 10, 0.0268826)):
        show('G(%g), E K = %g' % (mu, mean), deltas(*best(gaussian(mu, .005), gamma), [.1, .2, .5, 1]))


if __name__ == '__main__':
    main()
