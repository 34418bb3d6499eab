# requires: diffprivlib==0.6.6 scikit-learn==1.6.1 numpy==2.2.6 pandas==2.2.3
"""diffprivlib: linear regression, logistic regression and random forests, told the true bounds.

Its guarantee is pure epsilon; delta is 0.
"""

import numpy as np
from common import one_hot, parse, run
from diffprivlib.models import LinearRegression, LogisticRegression, RandomForestClassifier


def regressor(table, y, train, test, setting, args):
    if setting["model"] != "linear":
        return None  # its forests are for classes
    x = one_hot(table)
    model = LinearRegression(epsilon=args.epsilon, bounds_X=(x.min(0), x.max(0)), bounds_y=(y.min(), y.max()))
    return np.clip(model.fit(x[train], y[train]).predict(x[test]), y.min(), y.max())


def classifier(table, y, train, test, setting, args):
    x = one_hot(table)
    if setting["model"] == "linear":
        model = LogisticRegression(epsilon=args.epsilon, data_norm=float(np.linalg.norm(x, axis=1).max()), C=setting["C"])
    else:
        model = RandomForestClassifier(n_estimators=10, max_depth=6, epsilon=args.epsilon, bounds=(x.min(0), x.max(0)), classes=np.unique(y))
    return model.fit(x[train], y[train]).predict(x[test])


SETTINGS = [{"model": "linear", "C": 1.0}, {"model": "linear", "C": 0.01}, {"model": "forest"}]
if __name__ == "__main__":
    run(parse(__doc__), "diffprivlib", SETTINGS, regressor, classifier)
