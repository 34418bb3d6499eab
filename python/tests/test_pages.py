"""The blocks of Python that pages show, run as they stand. DPTRAIN_PAGES is the folder of the repository, or a copy of its pages."""

import inspect
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from dptrain import DPClassifier, DPRegressor

pandas = pytest.importorskip("pandas")
ROOT = Path(os.environ.get("DPTRAIN_PAGES") or Path(__file__).parent / ".." / "..").resolve()
DATA = Path(os.environ.get("DPTRAIN_TESTDATA") or ROOT / "testdata").resolve()


def pages():
    """The code of every page: its blocks one after the other, as a reader would run them."""
    for path in [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("python/*.md")]:
        blocks = re.findall(r"^```python\n(.*?)^```", path.read_text(encoding="utf-8"), re.M | re.S)
        if blocks:
            yield pytest.param("\n".join(blocks), id=str(path.relative_to(ROOT)))


def test_there_are_some():
    assert {p.id for p in pages()} >= {"python/README.md", "docs/reference/python.md", "docs/tutorials/python.md", "docs/guide/export.md"}


@pytest.mark.parametrize("estimator", [DPRegressor, DPClassifier])
def test_reference_names_every_parameter(estimator):
    page = (ROOT / "docs/reference/python.md").read_text(encoding="utf-8")
    named = re.findall(r"`(\w+)`", page.partition("## Parameters")[2].partition("\n## ")[0])
    assert set(inspect.signature(estimator).parameters) <= set(named)


@pytest.mark.parametrize("code", list(pages()))
def test_page(code, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    shutil.copytree(DATA, tmp_path / "testdata")
    houses = pandas.read_csv(DATA / "houses.csv")
    X, y = houses.drop(columns="price"), houses["price"]
    if "onnxruntime" in code:
        pytest.importorskip("onnxruntime")
        DPRegressor(1, categories={"ocean": ["inland", "island"]}).fit(X[["area", "ocean"]], y).save("release")
        subprocess.run([sys.executable, "-m", "dptrain", "export", "release/model.json", "--onnx", "-o", "model.onnx"], check=True)
    if not os.environ.get("DPTRAIN_TEST_FULL"):  # simulations take most of the time
        code = code.replace("rows=[5000]", "rows=[1000]")
    exec(code, {"X": X, "y": y, "X_new": X.head(), "labels": np.where(y > y.median(), "yes", "no")})
