"""The step curves that are computed without a search."""

import numpy as np

from dptrain._sums import _CELLS, Curves


def curve(rng, edges, low, high):
    """Return the values of a curve, and numbers at its edges, beside them and between, within low and high."""
    x = np.concatenate([edges, np.nextafter(edges, -np.inf), np.nextafter(edges, np.inf), rng.uniform(low, high, 2000), [low, high]])
    return rng.normal(size=len(edges) + 1), np.clip(x, low, high)


def check(edges, low, high, searched):
    """Compare a curve with a binary search. searched is whether it has to be searched."""
    values, x = curve(np.random.default_rng(len(edges)), np.asarray(edges, dtype=float), low, high)
    curves = Curves([(edges, values), (edges, -values)], [low, low], [high, high])
    expected = values[np.searchsorted(edges, x, side="right")]
    np.testing.assert_array_equal(curves(np.stack([x, x])), [expected, -expected])
    assert len(curves._searched) == (2 if searched else 0)


def test_curves_have_the_values_of_a_search():
    rng = np.random.default_rng(4)
    for low, high in ((0.0, 1.0), (-3.7, 11.2), (1e9, 1e9 + 1), (-1e-12, 1e-12), (-1e100, 1e100), (2020.0, 2021.0), (-5.0, -4.0)):
        grid = low + (high - low) * np.arange(1, 256) / 256
        check(grid, low, high, False)  # as training makes them
        for count in (0, 1, 2, 48):
            check(np.unique(rng.choice(grid, count)), low, high, False)
    irregular = np.sort(rng.uniform(size=40))
    check(irregular, 0.0, 1.0, False)
    check(irregular, 0.2, 0.6, False)  # edges beyond the range of the numbers
    check(irregular, 0.5, 0.5, False)  # a column of one number
    check([0.1, 0.1 + 1e-9, 0.7], 0.0, 1.0, True)
    check([1e17, 1e17 + 64, 1e17 + 512], 1e17, 1e17 + 1024, False)  # few numbers between
    assert _CELLS[0] > 48
