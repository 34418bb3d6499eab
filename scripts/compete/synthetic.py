# requires: dpmm==0.1.9 lightgbm==4.5.0
"""Synthetic tables by marginals (AIM and MST, of the package dpmm), told the true bounds, and
LightGBM without privacy trained on them.
"""

import numpy as np
import pandas as pd
from common import bounds, parse, run
from dpmm.pipelines.aim import AIMPipeline
from dpmm.pipelines.mst import MSTPipeline
from lightgbm import LGBMClassifier, LGBMRegressor

PIPELINES = {"AIM": AIMPipeline, "MST": MSTPipeline}


def synthetic(table, y, train, setting, args):
    whole = table.copy()
    whole["target of the model"] = y
    domain = {c: {"lower": low, "upper": high} for c, (low, high) in bounds(whole).items()}
    for c in whole.select_dtypes(exclude="number"):
        whole[c] = whole[c].astype("category")
        domain[c] = {"categories": list(whole[c].cat.categories)}
    pipeline = PIPELINES[setting["form"]](epsilon=args.epsilon, delta=args.delta, binner_type="uniform", n_bins=setting["bins"], proc_epsilon=0,
                                          max_model_size=80, n_jobs=1, gen_kwargs={"n_iters": setting["steps"]})  # fmt: skip
    pipeline.fit(whole.iloc[train].reset_index(drop=True), domain=domain)
    out = pipeline.generate(n_records=len(train))
    return out.drop(columns="target of the model"), out["target of the model"]


def same(table, like):
    out = table[list(like)].copy()
    for c in out.select_dtypes(exclude="number"):
        out[c] = pd.Categorical(out[c].astype(str), categories=sorted(like[c].astype(str).unique()))
    return out


def regressor(table, y, train, test, setting, args):
    x, t = synthetic(table, y, train, setting, args)
    model = LGBMRegressor(n_estimators=200, learning_rate=0.05, verbose=-1, n_jobs=1).fit(same(x, table), t.astype(float))
    return np.clip(model.predict(same(table.iloc[test], table)), y.min(), y.max())


def classifier(table, y, train, test, setting, args):
    x, t = synthetic(table, y, train, setting, args)
    model = LGBMClassifier(n_estimators=200, learning_rate=0.05, verbose=-1, n_jobs=1).fit(same(x, table), t.astype(str))
    return model.predict(same(table.iloc[test], table))


SETTINGS = [{"form": f, "bins": b, "steps": s} for f, s in (("MST", 500), ("AIM", 100)) for b in (16, 32)]
if __name__ == "__main__":
    run(parse(__doc__), "synthetic + LightGBM", SETTINGS, regressor, classifier)
