# requires: diffprivlib==0.6.6 scikit-learn==1.6.1 numpy==2.2.6 pandas==2.2.3
"""diffprivlib: linear and logistic regression, naive Bayes and random forests, told the true bounds.

Its guarantee is pure epsilon; delta is 0.
"""

import numpy as np
from common import one_hot, parse, run
from diffprivlib.models import GaussianNB, LinearRegression, LogisticRegression, RandomForestClassifier


def regressor(table, y, train, test, setting, args):
    if setting["model"] != "linear":
        return None  # the others are for classes
    x = one_hot(table)
    model = LinearRegression(epsilon=args.epsilon, bounds_X=(x.min(0), x.max(0)), bounds_y=(y.min(), y.max()))
    return np.clip(model.fit(x[train], y[train]).predict(x[test]), y.min(), y.max())


def classifier(table, y, train, test, setting, args):
    if setting["model"] == "linear":
        return None
    x = one_hot(table)
    names, codes = np.unique(y, return_inverse=True)  # its forests mistake labels that are text
    if setting["model"] == "logistic":
        model = LogisticRegression(epsilon=args.epsilon, data_norm=float(np.linalg.norm(x, axis=1).max()), C=setting["C"])
    elif setting["model"] == "naive Bayes":
        model = GaussianNB(epsilon=args.epsilon, bounds=(x.min(0), x.max(0)))
    else:
        model = RandomForestClassifier(n_estimators=10, max_depth=setting["depth"], epsilon=args.epsilon, bounds=(x.min(0), x.max(0)),
                                       classes=np.arange(len(names)))  # fmt: skip
    return names[model.fit(x[train], codes[train]).predict(x[test])]


SETTINGS = [{"model": "linear"}, *({"model": "logistic", "C": c} for c in (1.0, 0.01, 0.001)), {"model": "naive Bayes"},
            *({"model": "forest", "depth": d} for d in (6, 10))]  # fmt: skip
if __name__ == "__main__":
    run(parse(__doc__), "diffprivlib", SETTINGS, regressor, classifier)
