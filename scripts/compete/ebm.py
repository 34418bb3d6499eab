# requires: interpret-core==0.7.8 scikit-learn==1.6.1 numpy==2.2.6 pandas==2.2.3
"""DP-EBM (InterpretML), told the true bounds of every column and of the target."""

from common import bounds, parse, run, types
from interpret.privacy import DPExplainableBoostingClassifier, DPExplainableBoostingRegressor


def regressor(table, y, train, test, setting, args):
    model = DPExplainableBoostingRegressor(
        feature_names=list(table), feature_types=types(table), epsilon=args.epsilon, delta=args.delta,
        privacy_bounds=bounds(table), privacy_target_min=float(y.min()), privacy_target_max=float(y.max()), **setting,
    )  # fmt: skip
    return model.fit(table.iloc[train], y[train]).predict(table.iloc[test])


def classifier(table, y, train, test, setting, args):
    model = DPExplainableBoostingClassifier(feature_names=list(table), feature_types=types(table), epsilon=args.epsilon, delta=args.delta,
                                            privacy_bounds=bounds(table), **setting)  # fmt: skip
    return model.fit(table.iloc[train], y[train]).predict(table.iloc[test])


SETTINGS = [{}, {"max_bins": 16, "max_rounds": 50}, {"max_bins": 64, "max_rounds": 100}]
if __name__ == "__main__":
    run(parse(__doc__), "DP-EBM", SETTINGS, regressor, classifier)
