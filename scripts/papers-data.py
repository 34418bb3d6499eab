#!/usr/bin/env python3
"""Fetches public tables of the papers for the suites of experiments/ (docs/lab/experiments.md):

    scripts/papers-data.py FOLDER [--from MIRRORS]

It writes FOLDER/regression, FOLDER/highdim and FOLDER/classification, gzipped CSV whose last column is the target, and
FOLDER/SOURCES.tsv. Every source is a file in one commit of a public repository. The SHA-256 of the source and of the rows of
the table are checked. A table that exists is left alone if it has the right rows, and is an error otherwise. MIRRORS is a
folder with clones of the repositories, named OWNER+NAME, for a machine without a network. Tables of R need the library rdata
1.1.0 (pip install rdata==1.1.0).

The tables have licences of their own, so none of them belongs to this repository.
"""
import argparse
import csv
import gzip
import hashlib
import io
import math
import os
import pathlib
import subprocess
import sys
import tempfile
import typing
import urllib.request

GE_EVAL = "wilstrup/ge-eval@ca3ef40dd8aecbe4628e97110ddc096b48d78871"
MICROARRAYS = "ramhiser/datamicroarray@a95f6f68ed3debf48ee54f198435fa12aa655b16"
SEMEION = "ilkp/ANN-Digits@eda82302fd99b0a96d0765c8589599aeea78d6ec"
DERMATOLOGY = "ddlteaching/FreddieMac@7c2bfa1bccf9ae873ee90c159c597834f56afc8d"
RENT = "anjosma/rent_price_brazil@3ef21ad5f84be7a13a31fa75cd0ab5026f4a2088"
SALES = "Introduction-to-Machine-Learning/Machine-Learning@1c2e899c31b6a4db10503781fe9d816a4bed02d9"
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


def one_hot(records, numbers, categories):
    """Returns a header and rows: numbers as they are, and a 0/1 column for every value of each category."""
    header = list(numbers)
    levels = []
    for column in categories:
        for value in sorted({record[column] for record in records}):
            levels.append((column, value))
            header.append(f"{column}={value}".replace(" ", "_"))
    rows = []
    for record in records:
        row = [record[column] for column in numbers]
        row += [str(int(record[column] == value)) for column, value in levels]
        rows.append(row)
    return header, rows


def with_log_target(records, numbers, categories, target):
    """Returns a table of the one-hot columns and ln(1 + target)."""
    header, rows = one_hot(records, numbers, categories)
    for row, record in zip(rows, records):
        row.append(f"{math.log1p(float(record[target])):.10g}")
    return [header + ["target"]] + rows


def rents(text, name):
    """One-hot city, animal and furniture; floor left out; target ln(1 + total): task 361098."""
    records = list(csv.DictReader(io.StringIO(text.decode())))
    numbers = ["area", "rooms", "bathroom", "parking spaces", "hoa", "rent amount", "property tax", "fire insurance"]
    return with_log_target(records, numbers, ["city", "animal", "furniture"], "total")


def sales(text, name):
    """Date as year, month, day; one-hot year, waterfront; without floors, view, condition, zipcode; target ln(1 + price): task 361102."""
    records = list(csv.DictReader(io.StringIO(text.decode())))
    for record in records:
        record["year"] = record["date"][:4]
        record["month"] = str(int(record["date"][4:6]))
        record["day"] = str(int(record["date"][6:8]))
    numbers = ["bedrooms", "bathrooms", "sqft_living", "sqft_lot", "grade", "sqft_above", "sqft_basement", "yr_built"]
    numbers += ["yr_renovated", "lat", "long", "sqft_living15", "sqft_lot15", "month", "day"]
    return with_log_target(records, numbers, ["year", "waterfront"], "price")


class Table(typing.NamedTuple):
    """A table, the SHA-256 of its rows as CSV, and its source: a file of a repository with its SHA-256."""

    name: str
    rows: str
    repository: str
    path: str
    hash: str
    convert: typing.Callable
    licence: str


BENCHMARK = "tabular benchmark: see the page of OpenML; original data mostly public domain or CC-BY"
PAPERS = "GPL-2 package; data published with the papers"
UCI = "CC-BY 4.0 (UCI)"

TABLES = [
    Table(
        "regression/361073_pol",
        "e99ed658593e1a242d928fbe63eefd7817ffce9576bde2ce206a78cffce1261e",
        GE_EVAL,
        "data/reg_num/pol.csv",
        "a826ab023766ba546c937b8edf36d59de8330129407d2036a61ed1c3515c63b2",
        indexed,
        BENCHMARK,
    ),
    Table(
        "regression/361077_Ailerons",
        "f94ed244db909758e13a1cc48a9b433f6cd68669304bf6ba0b0aae564ce29888",
        GE_EVAL,
        "data/reg_num/Ailerons.csv",
        "f923e550b808341895109730479ed72026786e89601a9edefe9a78cad19c42ba",
        indexed,
        BENCHMARK,
    ),
    Table(
        "regression/361079_house_16H",
        "7ef39b671f5067a4ed40c6ca3735900e9a2db0f80c1886046508cbdeac4e2d6d",
        GE_EVAL,
        "data/reg_num/house_16H.csv",
        "077a184e448bae71dc51d461a17d2f3ace5e0b85f8e7f7b3db617ab44668faa9",
        indexed,
        BENCHMARK,
    ),
    Table(
        "regression/361085_sulfur",
        "8bf06cb3d942a49d851cfae17a5bd715aa8943757df4fd3be4122aff84b8bc5f",
        GE_EVAL,
        "data/reg_num/sulfur.csv",
        "dfe6566aa5474c06701545363507ece75dc5b8cf7d41e95c250e003ba76f9ff5",
        indexed,
        BENCHMARK,
    ),
    Table(
        "regression/361098_Brazilian_houses",
        "99f6622952083114b7907c0ce1181a4eeea27012b4d76c735e6b99c6da50ea3f",
        RENT,
        "data/houses_to_rent_v2.csv",
        "8ad09199e011747e591c49e071b480ff09e283a8d3936fb21c4d73ab898ea7fb",
        rents,
        BENCHMARK,
    ),
    Table(
        "regression/361102_house_sales",
        "a0256bb34a83a1927fba720c3c4b314c487f64e50c4aca690f184077ec199baa",
        SALES,
        "kc_house_data.csv",
        "efdc884481a9e84c5e3b173de1e2ef1ddecb9caadb11ba2501fc81a201fdbe27",
        sales,
        BENCHMARK,
    ),
    Table(
        "highdim/borovecki",
        "0606583c31948c1d7939d819c85afac0d1f3ce19f94ede21c2e0d36448636acc",
        MICROARRAYS,
        "data/borovecki.RData",
        "717835c9be3fb16b4b2bb0f6e82816fde6c3ad15111bda591651d8e6163c9fff",
        microarray,
        PAPERS,
    ),
    Table(
        "highdim/chowdary",
        "8b818f948fc79af671ffec89664335eb5df36fd1e400668d673eb72862aac4ca",
        MICROARRAYS,
        "data/chowdary.RData",
        "2613b06506074469d1aec9e8fbe313fa65aa75ba6720ad925c5edbc2f690d983",
        microarray,
        PAPERS,
    ),
    Table(
        "highdim/gordon",
        "d9cc34d2075287fafeaddeace621791736bb902c84ced0dec1ac63b738970b3f",
        MICROARRAYS,
        "data/gordon.RData",
        "09173f9c7b7d30bbbeca08b945755a03ad7601f4560bb185d47e3e441fc096f3",
        microarray,
        PAPERS,
    ),
    Table(
        "highdim/gravier",
        "9afb068fbe26dbd712fed3903b71d313fe057c20415cea564bd47cb2a691f346",
        MICROARRAYS,
        "data/gravier.RData",
        "6e84756200a8cc3032d18c7d60a60cf79b4236d5e19ac51413d15faf434d68ee",
        microarray,
        PAPERS,
    ),
    Table(
        "highdim/shipp",
        "3cc9f20e7859144482c4fd715d385886d843e99001d3982661dffcda4c484e04",
        MICROARRAYS,
        "data/shipp.RData",
        "2f7b5fcb6dd874a67f7b463a5fc17d7e6b2ba69bd30277f8ec953b6b0b681e65",
        microarray,
        PAPERS,
    ),
    Table(
        "highdim/singh",
        "5523f140ad571fa781f59fc10bdbe61ff76c2a77ab38e53ef788ba76ceffe3fa",
        MICROARRAYS,
        "data/singh.RData",
        "5197cdae41c6e25b9a59cfda23fd9434c25b7406ed1942c5ca074e140e5c2cff",
        microarray,
        PAPERS,
    ),
    Table(
        "highdim/subramanian",
        "50c3198fa0c5042031624c066ef9c1a2e6991d9ee1c563f740eb88a8610572de",
        MICROARRAYS,
        "data/subramanian.RData",
        "82f551738e3e3dbf6d92d1b757dc2fdfd00fcbd29362f35354d12c42ee5dc2bd",
        microarray,
        PAPERS,
    ),
    Table(
        "classification/semeion",
        "574c9f49878ed649f418ae380ec4b8330b04801ec3c52ba1099ab8ac4f99b2bf",
        SEMEION,
        "semeion.data",
        "0a0db68edc935e157425afd5f0dd927256b473a2e82262fd442cfde4c6e42c76",
        pixels,
        UCI,
    ),
    Table(
        "classification/dermatology",
        "5071c6e8ad6e7ee4cb7d70e4deff72d03b6db70440e9d0c38ba8196a0c7c5fbb",
        DERMATOLOGY,
        "data/dermatology.data",
        "64a55551d9bb55497ddcf4775e794f8e815f21946ea2e0adf56f347f3af81665",
        clinical,
        UCI,
    ),
    Table(
        "classification/bank",
        "7ee81742964e62aaab2dfef9fb1bcb37a0f0b57e38040e810971fdbfd9772222",
        BANK,
        "data/bank.csv",
        "b4405cfb02ce723d80f0692a5f9e686d4eb75542ab5c5d55b72d39a5b5acec03",
        unknown,
        UCI,
    ),
]


def source(repository, path, mirrors):
    """Returns the bytes of a file at a commit."""
    name, commit = repository.split("@")
    if mirrors:
        clone = os.path.join(mirrors, name.replace("/", "+"))
        return subprocess.run(["git", "-C", clone, "show", f"{commit}:{path}"], check=True, capture_output=True).stdout
    with urllib.request.urlopen(f"https://raw.githubusercontent.com/{name}/{commit}/{path}", timeout=120) as answer:
        return answer.read()


def packed(rows):
    """Returns rows as CSV."""
    text = io.StringIO(newline="")
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue().encode()


def write(path, data):
    """Writes a file under a temporary name and renames it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(path.name + ".part")
    part.write_bytes(data)
    os.replace(part, path)


def check(what, data, want):
    """Exits unless data has a SHA-256."""
    got = hashlib.sha256(data).hexdigest()
    if got != want:
        sys.exit(f"{what}: SHA-256 {got}, want {want}")


def add(table, folder, mirrors):
    """Writes a table unless it exists, and returns its line of SOURCES.tsv."""
    at = folder / (table.name + ".csv.gz")
    if at.exists():
        data = gzip.decompress(at.read_bytes())
        check(f"{at} has other rows; remove it to have it written again", data, table.rows)
    else:
        original = source(table.repository, table.path, mirrors)
        check(f"{table.repository} {table.path}", original, table.hash)
        data = packed(table.convert(original, table.name.rsplit("/", 1)[1]))
        check(f"{table.name} was converted to other rows", data, table.rows)
        write(at, gzip.compress(data, mtime=0))
    header = data[: data.index(b"\n")]
    return (
        f"{table.name}.csv.gz",
        data.count(b"\n") - 1,
        header.count(b","),
        table.licence,
        table.convert.__doc__,
        f"github {table.repository} {table.path}",
    )


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--from", dest="mirrors", metavar="MIRRORS")
    options = parser.parse_args(arguments)
    listed = [("file", "n", "d", "licence", "transformations", "source")]
    for table in TABLES:
        listed.append(add(table, options.folder, options.mirrors))
        print(*listed[-1][:3])
    lines = "".join("\t".join(map(str, row)) + "\n" for row in listed)
    write(options.folder / "SOURCES.tsv", lines.encode())


if __name__ == "__main__":
    main()
