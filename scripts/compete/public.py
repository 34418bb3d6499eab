# requires: interpret-core==0.7.8 lightgbm==4.5.0 scikit-learn==1.6.1 numpy==2.2.6 pandas==2.2.3
"""Boosting without privacy: what noise and method leave to gain. Histogram boosting and LightGBM
and the explainable boosting machine with pairs, with their usual settings (the last with two
outer bags instead of fourteen, which take minutes).
"""

import numpy as np
import pandas as pd
from common import one_hot, parse, run, types
from interpret.glassbox import ExplainableBoostingClassifier, ExplainableBoostingRegressor
from lightgbm import LGBMClassifier, LGBMRegressor, early_stopping
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor


def light(model, x, y, train, test):
    """Every tenth training row stops early: the last tenth of an ordered table would be another law."""
    stop = np.arange(len(train)) % 10 == 9
    fit, stop = train[~stop], train[stop]
    model.fit(x[fit], y[fit], eval_set=[(x[stop], y[stop])], callbacks=[early_stopping(50, verbose=False)])
    return model.predict(x[test])


def fit(table, y, train, test, setting, models):
    x = one_hot(table)
    if setting["model"] == "LightGBM":
        return light(models[0](n_estimators=1500, learning_rate=0.05, num_leaves=48, verbose=-1), x, y, train, test)
    if setting["model"] == "histogram boosting":
        return models[1]().fit(x[train], y[train]).predict(x[test])
    model = models[2](feature_names=list(table), feature_types=types(table), interactions=0.9, outer_bags=2, n_jobs=1)
    return pd.Series(model.fit(table.iloc[train], y[train]).predict(table.iloc[test])).to_numpy()


def regressor(table, y, train, test, setting, args):
    return fit(table, y, train, test, setting, (LGBMRegressor, HistGradientBoostingRegressor, ExplainableBoostingRegressor))


def classifier(table, y, train, test, setting, args):
    return fit(table, y, train, test, setting, (LGBMClassifier, HistGradientBoostingClassifier, ExplainableBoostingClassifier))


SETTINGS = [{"model": m} for m in ("LightGBM", "histogram boosting", "EBM with pairs")]
if __name__ == "__main__":
    run(parse(__doc__), "without privacy", SETTINGS, regressor, classifier)
