# requires: scikit-lego==0.9.10 pandas==2.2.3
"""Writes the table Abalone, which scikit-lego holds, as a CSV file with two columns for the sex: abalone.py abalone.csv.gz"""

import sys

from sklego.datasets import load_abalone

table = load_abalone(as_frame=True)
table.insert(0, "female", (table["sex"] == "F").astype(int))
table.insert(1, "infant", (table["sex"] == "I").astype(int))
table.drop(columns="sex").to_csv(sys.argv[1], index=False)
