"""The checks of scikit-learn. Those that cannot hold of differentially private training, or hold by chance, are listed with the reason."""

import pytest

pytest.importorskip("sklearn", minversion="1.6")

from sklearn.utils.estimator_checks import parametrize_with_checks

from dptrain import DPClassifier, DPRegressor

FRESH = "noise is fresh in every fit, and there is no seed"
TOTAL = "a record never causes an error: one whose target is missing or infinite adds nothing"
CUTOFF = "predict decides by the cutoff of the model, not at .5"
EXPECTED = {
    "check_fit_idempotent": FRESH,
    "check_regressor_data_not_an_array": FRESH,
    "check_classifier_data_not_an_array": FRESH,
    "check_regressors_int": FRESH,
    "check_supervised_y_2d": FRESH,
    "check_supervised_y_no_nan": TOTAL,
    "check_classifiers_regression_target": "whether labels are classes would be read from the records",
    "check_classifiers_classes": "classes are found privately, and not those of a few records",
    "check_classifiers_train": CUTOFF,
}


@parametrize_with_checks([DPRegressor(1e4, method="joint-gram", holdout=0), DPClassifier(1e4, method="joint-gram", holdout=0)], expected_failed_checks=lambda e: EXPECTED)
def test_checks(estimator, check):
    check(estimator)
