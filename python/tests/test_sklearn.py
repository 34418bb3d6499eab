"""The checks of scikit-learn. Those that cannot hold of differentially private training, or hold by chance, are listed with the reason."""

import os

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
}
LINEAR_EXPECTED = {**EXPECTED, "check_classifiers_train": CUTOFF}
PROTOTYPES_EXPECTED = {**EXPECTED, "check_decision_proba_consistency": "probabilities of prototypes need held-out records"}


# Two branches of a plan are priced for classes that are found, which takes a second at a large epsilon, but not of
# prototypes, which have one model for any number of classes. So all checks run with those, and with two linear scores
# and a cutoff, a model of its own, the checks that compare labels, predictions, scores, probabilities and copies of a fitted classifier.
# The two checks of sparse tables fit every format once as a matrix and once as an array: regressions have the arrays, and
# classifiers the matrices. With DPTRAIN_TEST_FULL or DPTRAIN_ALL_CHECKS all checks run with all three.
ALL = bool(os.environ.get("DPTRAIN_TEST_FULL") or os.environ.get("DPTRAIN_ALL_CHECKS"))
LINEAR = {
    "check_classifiers_one_label",
    "check_decision_proba_consistency",
    "check_estimators_pickle",
    "check_fit_check_is_fitted",
    "check_methods_subset_invariance",
}


def name_of(check):
    """The name of a check, with its arguments if it has any."""
    return " ".join([check.func.__name__, *(f"{key}={value}" for key, value in check.keywords.items())])


@parametrize_with_checks([DPRegressor(1e4, method="joint-gram", holdout=0), DPClassifier(1e4, method="prototypes", holdout=0)], expected_failed_checks=lambda e: PROTOTYPES_EXPECTED if e.method == "prototypes" else EXPECTED)
def test_checks(estimator, check):
    if not ALL and name_of(check) == ("check_estimator_sparse_matrix" if isinstance(estimator, DPRegressor) else "check_estimator_sparse_array"):
        pytest.skip("with DPTRAIN_TEST_FULL")
    check(estimator)


@parametrize_with_checks([DPClassifier(1e4, method="joint-gram", holdout=0)], expected_failed_checks=lambda e: LINEAR_EXPECTED)
def test_checks_of_a_linear_classifier(estimator, check):
    if not ALL and name_of(check) not in LINEAR:
        pytest.skip("with DPTRAIN_TEST_FULL")
    check(estimator)
