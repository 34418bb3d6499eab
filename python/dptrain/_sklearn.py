"""Detection of repeated fits by scikit-learn, and of pipeline steps that learned from the records.

Both are read from the frames of the callers, because scikit-learn passes an estimator no information about them.
"""

import sys
import weakref

# Functions of scikit-learn that fit clones on parts of the records, and their local variable with what each split is fitted
# for several times.
_REPEATING = {"cross_validate": None, "cross_val_predict": None, "learning_curve": "train_sizes_abs", "validation_curve": "param_range"}

# Transformers whose fitted attributes follow from the shape of the table alone.
_SHAPE_ONLY = {"FunctionTransformer", "Normalizer", "Binarizer", "PolynomialFeatures", "HashingVectorizer", "FeatureHasher", "AdditiveChi2Sampler", "RBFSampler", "GaussianRandomProjection", "SparseRandomProjection"}

_announced = weakref.WeakSet()


def _frames():
    """Return the stack frames of scikit-learn functions, innermost first."""
    frame = sys._getframe(2)
    while frame is not None:
        if frame.f_globals.get("__name__", "").startswith("sklearn."):
            yield frame
        frame = frame.f_back


def repeated_fits(epsilon):
    """Describe the repeated fits of a cross-validation or search that this fit is part of.

    It returns None outside of one, and otherwise (first, fits, total): whether this is the first fit of it that asks, how
    many fits there will be, and the sum of their epsilons. The last two are None where only a part of it is known, in a
    worker process.
    """
    candidates, splits, found = None, None, None
    for frame in _frames():
        name, local = frame.f_code.co_name, frame.f_locals
        if name == "evaluate_candidates":
            candidates, splits = local.get("candidate_params"), local.get("n_splits")
        elif name == "fit" and hasattr(local.get("self"), "_run_search"):
            if candidates is None:  # the fit on all records that follows
                candidates, splits = local.get("all_candidate_params"), getattr(local["self"], "n_splits_", local.get("n_splits"))
            found = local.get("parallel"), *_search(local["self"], candidates, splits, epsilon)
            break
        elif name in _REPEATING and local.get("parallel") is not None:
            times = len(local[_REPEATING[name]]) if _REPEATING[name] in local else 1
            fits = _splits(local)
            found = local["parallel"], fits and times * fits, fits and times * fits * epsilon
            break
        elif name == "_fit_and_score":
            found = _WORKER, None, None  # what called it follows, but for worker processes
    if found is None:
        return None
    owner, fits, total = found
    owner = _WORKER if owner is None else owner
    first = owner not in _announced
    if first:
        _announced.add(owner)
    return first, fits, total


class _Worker:
    """The fits of a worker process."""


_WORKER = _Worker()


def _splits(local):
    """Return the number of splits of a scikit-learn function with these variables, or None."""
    try:
        return local["cv"].get_n_splits(local.get("X"), local.get("y"), local.get("groups"))
    except (AttributeError, KeyError, TypeError, ValueError):
        return None


def _search(search, candidates, splits, epsilon):
    """Return the number of fits of a search and the sum of their epsilons: one per candidate and split, plus one on all records."""
    if not isinstance(candidates, list) or splits is None:
        return None, None
    epsilons = [_epsilon_of(candidate, epsilon) for candidate in candidates]
    fits, total = len(candidates) * splits, sum(epsilons) * splits
    if getattr(search, "refit", False):
        fits, total = fits + 1, total + max(epsilons, default=0)
    return fits, total


def _epsilon_of(candidate, epsilon):
    for key, value in candidate.items():
        if key == "epsilon" or key.endswith("__epsilon"):
            return value if isinstance(value, (int, float)) else float("nan")
    return epsilon


def fitted_steps(estimator):
    """Return the pipeline steps before an estimator that learned from the records.

    It returns a list of (name of the step, name of its class, names of what it learned).
    """
    out = []
    for frame in _frames():
        pipeline = frame.f_locals.get("self")
        if frame.f_code.co_name != "fit" or not hasattr(pipeline, "steps") or not pipeline.steps or pipeline.steps[-1][1] is not estimator:
            continue
        for name, step in pipeline.steps[:-1]:
            out += _learned(name, step)
        estimator = pipeline
    return out


def _learned(name, step):
    if step is None or isinstance(step, str):
        return []
    for parts in ("transformers_", "transformer_list", "steps"):
        if hasattr(step, parts):
            return [found for part in getattr(step, parts) for found in _learned(f"{name}.{part[0]}", part[1])]
    kind = type(step).__name__
    if kind in _SHAPE_ONLY or not isinstance(getattr(step, "categories", "auto"), str):
        return []
    attributes = [a for a in getattr(step, "__dict__", {}) if a.endswith("_") and not a.startswith("_") and a not in ("n_features_in_", "feature_names_in_")]
    return [(name, kind, attributes)] if attributes else []
