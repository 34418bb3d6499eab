#!/usr/bin/env python3
"""Fetches public tables of the papers for the suites of experiments/ (docs/lab/experiments.md):

    scripts/papers-data.py FOLDER [--from MIRRORS]

It writes FOLDER/regression, FOLDER/highdim and FOLDER/classification, gzipped CSV whose last column is the target, and
FOLDER/SOURCES.tsv. Every source is one commit of a public repository, and its SHA-256 is checked before it is read. A table
that exists is left alone. MIRRORS is a folder with clones of the repositories, named OWNER+NAME, for a machine without a
network. Tables of R need the library rdata 1.1.0 (pip install rdata==1.1.0).

The tables have licences of their own, so none of them belongs to this repository.
"""
import argparse
import csv
import gzip
import hashlib
import io
import os
import pathlib
import subprocess
import sys
import tempfile
import urllib.request

GE_EVAL = "wilstrup/ge-eval@ca3ef40dd8aecbe4628e97110ddc096b48d78871"
MICROARRAYS = "ramhiser/datamicroarray@a95f6f68ed3debf48ee54f198435fa12aa655b16"
SEMEION = "ilkp/ANN-Digits@eda82302fd99b0a96d0765c8589599aeea78d6ec"
DERMATOLOGY = "ddlteaching/FreddieMac@7c2bfa1bccf9ae873ee90c159c597834f56afc8d"
BANK = "jfkoehler/nyu_bootcamp_fa25@29313c54074216756cc41348a4301084aa4936fb"


def indexed(text, name):
    """A CSV whose first column is an index without a name, and whose last is the target."""
    rows = list(csv.reader(io.StringIO(text.decode())))
    return [rows[0][1:-1] + ["target"]] + [row[1:] for row in rows[1:]]


def microarray(data, name):
    """A pair of R: a matrix of people by genes, and their classes, which become their ranks in alphabetical order."""
    import warnings

    import rdata

    warnings.simplefilter("ignore")
    with tempfile.NamedTemporaryFile(suffix=".RData") as file:
        file.write(data)
        file.flush()
        pair = rdata.read_rda(file.name)[name]
    matrix = getattr(pair["x"], "values")
    classes = list(pair["y"])
    codes = {label: str(code) for code, label in enumerate(sorted(set(classes)))}
    rows = [[f"X{j + 1}" for j in range(matrix.shape[1])] + ["target"]]
    for record, label in zip(matrix, classes):
        rows.append([f"{value:.6g}" for value in record] + [codes[label]])
    return rows


def pixels(text, name):
    """256 pixels, then a column for each of the ten digits."""
    rows = [[f"pixel{j + 1}" for j in range(256)] + ["target"]]
    for line in text.decode().splitlines():
        values = [str(int(float(value))) for value in line.split()]
        if values:
            rows.append(values[:256] + [str(values[256:].index("1"))])
    return rows


def clinical(text, name):
    """34 numbers and a class. Records without an age are left out, as in the paper."""
    rows = list(csv.reader(io.StringIO(text.decode())))
    return [rows[0][:-1] + ["target"]] + [row for row in rows[1:] if "" not in row and "?" not in row and "NA" not in row]


def unknown(text, name):
    """A CSV with empty cells for the word unknown of the original table."""
    return [[cell or "unknown" for cell in row] for row in csv.reader(io.StringIO(text.decode()))]


# The name of a table, the repository and file of its source, the SHA-256 of that file, and the function that converts it.
TABLES = [
    ("regression/361073_pol", GE_EVAL, "data/reg_num/pol.csv", "a826ab023766ba546c937b8edf36d59de8330129407d2036a61ed1c3515c63b2", indexed),
    ("regression/361077_Ailerons", GE_EVAL, "data/reg_num/Ailerons.csv", "f923e550b808341895109730479ed72026786e89601a9edefe9a78cad19c42ba", indexed),
    ("regression/361079_house_16H", GE_EVAL, "data/reg_num/house_16H.csv", "077a184e448bae71dc51d461a17d2f3ace5e0b85f8e7f7b3db617ab44668faa9", indexed),
    ("regression/361085_sulfur", GE_EVAL, "data/reg_num/sulfur.csv", "dfe6566aa5474c06701545363507ece75dc5b8cf7d41e95c250e003ba76f9ff5", indexed),
    ("highdim/borovecki", MICROARRAYS, "data/borovecki.RData", "717835c9be3fb16b4b2bb0f6e82816fde6c3ad15111bda591651d8e6163c9fff", microarray),
    ("highdim/chowdary", MICROARRAYS, "data/chowdary.RData", "2613b06506074469d1aec9e8fbe313fa65aa75ba6720ad925c5edbc2f690d983", microarray),
    ("highdim/gordon", MICROARRAYS, "data/gordon.RData", "09173f9c7b7d30bbbeca08b945755a03ad7601f4560bb185d47e3e441fc096f3", microarray),
    ("highdim/gravier", MICROARRAYS, "data/gravier.RData", "6e84756200a8cc3032d18c7d60a60cf79b4236d5e19ac51413d15faf434d68ee", microarray),
    ("highdim/shipp", MICROARRAYS, "data/shipp.RData", "2f7b5fcb6dd874a67f7b463a5fc17d7e6b2ba69bd30277f8ec953b6b0b681e65", microarray),
    ("highdim/singh", MICROARRAYS, "data/singh.RData", "5197cdae41c6e25b9a59cfda23fd9434c25b7406ed1942c5ca074e140e5c2cff", microarray),
    ("highdim/subramanian", MICROARRAYS, "data/subramanian.RData", "82f551738e3e3dbf6d92d1b757dc2fdfd00fcbd29362f35354d12c42ee5dc2bd", microarray),
    ("classification/semeion", SEMEION, "semeion.data", "0a0db68edc935e157425afd5f0dd927256b473a2e82262fd442cfde4c6e42c76", pixels),
    ("classification/dermatology", DERMATOLOGY, "data/dermatology.data", "64a55551d9bb55497ddcf4775e794f8e815f21946ea2e0adf56f347f3af81665", clinical),
    ("classification/bank", BANK, "data/bank.csv", "b4405cfb02ce723d80f0692a5f9e686d4eb75542ab5c5d55b72d39a5b5acec03", unknown),
]


def source(repository, path, mirrors):
    """Returns the bytes of a file at a commit."""
    name, commit = repository.split("@")
    if mirrors:
        clone = os.path.join(mirrors, name.replace("/", "+"))
        return subprocess.run(["git", "-C", clone, "show", f"{commit}:{path}"], check=True, capture_output=True).stdout
    with urllib.request.urlopen(f"https://raw.githubusercontent.com/{name}/{commit}/{path}", timeout=120) as answer:
        return answer.read()


def write(path, rows):
    """Writes a gzipped CSV that depends on its rows only, by a temporary name."""
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_suffix(".part")
    with open(part, "wb") as raw, gzip.GzipFile("", "wb", mtime=0, fileobj=raw) as packed:
        with io.TextIOWrapper(packed, encoding="utf-8", newline="") as text:
            csv.writer(text, lineterminator="\n").writerows(rows)
    os.replace(part, path)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--from", dest="mirrors", metavar="MIRRORS")
    options = parser.parse_args()
    listed = [("file", "n", "d", "source")]
    for name, repository, path, want, convert in TABLES:
        at = options.folder / (name + ".csv.gz")
        if not at.exists():
            data = source(repository, path, options.mirrors)
            got = hashlib.sha256(data).hexdigest()
            if got != want:
                sys.exit(f"{repository} {path}: SHA-256 {got}, want {want}")
            write(at, convert(data, name.rsplit("/", 1)[1]))
        with gzip.open(at, "rt", newline="") as text:
            rows = csv.reader(text)
            columns = len(next(rows)) - 1
            listed.append((f"{name}.csv.gz", sum(1 for _ in rows), columns, f"{repository} {path}"))
    part = options.folder / "SOURCES.part"
    part.write_text("".join("\t".join(map(str, row)) + "\n" for row in listed))
    os.replace(part, options.folder / "SOURCES.tsv")
    for row in listed[1:]:
        print(*row[:3])


if __name__ == "__main__":
    main()
