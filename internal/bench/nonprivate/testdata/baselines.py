"""Writes baselines.json, the reference for the baselines. Only numpy and
scikit-learn are needed, and only to make the file anew:

    python3 internal/bench/nonprivate/testdata/baselines.py > internal/bench/nonprivate/testdata/baselines.json
"""
import json
import sys

import numpy as np
from sklearn.linear_model import Lasso, LinearRegression, Ridge


def tables():
    rng = np.random.default_rng(7)
    x = rng.normal(size=(40, 6)) * [1, 10, 0.1, 1, 1, 1] + [0, 500, 3, 0, 0, 0]
    x[:, 4] = x[:, 0] + 0.01 * x[:, 4]
    x[:, 5] = (x[:, 5] > 0)
    yield "tall", x, x @ [1, 0.2, -4, 0, 2, 0] + rng.normal(size=40) + 7

    level = rng.integers(0, 3, size=30)
    x = np.column_stack([rng.normal(size=30), *(level == c for c in range(3)), np.full(30, 0.3), 100 * rng.normal(size=30)])
    x = np.column_stack([x, x[:, 0] - 2 * x[:, 5]])
    yield "collinear", x, x[:, 0] + level + 0.3 * rng.normal(size=30)

    x = rng.normal(size=(12, 40))
    yield "wide", x, x[:, 3] - 2 * x[:, 17] + 0.1 * rng.normal(size=12)

    x = rng.normal(size=(300, 5)) * [1e-4, 1, 1e4, 1, 1] + [0, 0, 1e6, 0, 0]
    yield "units", x, 1e4 * x[:, 0] + 1e-4 * x[:, 2] + x[:, 3] + rng.normal(size=300)


def fit(model, x, y):
    model.fit(x, y)
    return {"w": model.coef_.tolist(), "b": float(model.intercept_)}


def spread(x):
    sd = x.std(0)
    return np.where(sd > 1e-12, sd, 1)


def lasso(x, y, a, sd):
    """Lasso on columns divided by sd, with coefficients in original units."""
    m = Lasso(alpha=a, tol=1e-14, max_iter=10**6).fit(x / sd, y)
    r = y - m.predict(x / sd)
    objective = r @ r / (2 * len(y)) + a * np.abs(m.coef_).sum()
    return {"lambda": a, "w": (m.coef_ / sd).tolist(), "b": float(m.intercept_), "objective": objective}


out = []
for name, x, y in tables():
    case = {"name": name, "x": x.T.tolist(), "y": y.tolist(), "ols": fit(LinearRegression(), x, y),
            "ridge": [{"lambda": a, **fit(Ridge(alpha=a, solver="svd"), x, y)} for a in (1e-3, 1.0, 100.0)]}
    if name == "units":  # LinearRegression drops the small column
        case["ols"] = fit(LinearRegression(), x / spread(x), y)
        case["ols"]["w"] = (case["ols"]["w"] / spread(x)).tolist()
    for key, sd in (("lasso", np.ones(x.shape[1])), ("standardized", spread(x))):
        top = np.abs(((x - x.mean(0)) / sd).T @ (y - y.mean())).max() / len(y)
        case[key + "_max"] = top
        case[key] = [lasso(x, y, f * top, sd) for f in (0.9, 0.3, 0.05, 0.01)]
    out.append(case)
json.dump(out, sys.stdout, separators=(",", ":"))
print()
