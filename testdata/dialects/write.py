"""Writes one synthetic table in many dialects. Files "by hand" follow the documented form of a program."""
import csv, io, json
import pandas as pd
import pyarrow.feather, pyarrow.csv, pyarrow as pa

t = pd.DataFrame({
    "größe": [1.5, 2.25, None, 1234.5, -7.0, 0.125],
    "ort": ["Köln", "Zürich", "a, b; c", "Köln", "", "Zürich"],
    "preis": [1200.0, 7.5, 1250000.25, 3.0, None, 12.0],
    "tag": ["2024-02-29", "2023-12-31", "2024-01-01", None, "1999-07-04", "2024-02-29"],
})
t.to_csv("pandas.csv", index=False)                                              # the reference
t.to_csv("pandas-semicolon.csv", index=False, sep=";", decimal=",")
t.to_csv("pandas-latin1.csv", index=False, sep=";", decimal=",", encoding="latin-1", lineterminator="\r\n")
t.to_csv("pandas-tab.tsv.gz", index=False, sep="\t", na_rep="NA", compression={"method": "gzip", "mtime": 0})
t.to_csv("pandas-quoted.csv", index=False, quoting=csv.QUOTE_ALL, quotechar="'")
t.to_csv("pandas-bar.csv", index=False, sep="|", quoting=csv.QUOTE_NONE, header=False, encoding="cp850")
t.to_csv("pandas-index.csv")                                                     # a first column without a name
t.to_csv("pandas-sentinel.csv", index=False, na_rep="-999")
t.to_json("pandas.jsonl", orient="records", lines=True, force_ascii=False)
t.to_json("pandas.json", orient="records")
t.to_csv("excel-unicode.txt.csv", index=False, sep="\t", encoding="utf-16", lineterminator="\r\n")
table = pa.Table.from_pandas(t, preserve_index=False)
pa.csv.write_csv(table, "pyarrow.csv")                                           # quotes all text
pa.parquet.write_table(table, "pyarrow.parquet") if hasattr(pa, "parquet") else t.to_parquet("pyarrow.parquet", index=False)
pyarrow.feather.write_feather(table, "pyarrow.feather")
try:
    t.to_excel("pandas.xlsx", index=False)
except ImportError:
    open("pandas.xlsx", "wb").write(b"PK\x03\x04")

def write(name, text, encoding="utf-8"):
    with io.open(name, "w", encoding=encoding, newline="") as f:
        f.write(text)

def number(x, decimal=",", thousands="."):
    if pd.isna(x):
        return ""
    whole, _, rest = (f"{x:,.3f}").rstrip("0").rstrip(".").partition(".")
    return whole.replace(",", thousands) + (decimal + rest if rest else "")

def rows(separator, decimal, thousands, quote='"', date=lambda d: "" if d is None else d):
    for g, o, p, d in t.itertuples(index=False):
        o = quote + o + quote if separator in o else o
        yield separator.join([number(g, decimal, thousands), o, number(p, decimal, thousands), date(None if pd.isna(d) else d)])

head = ["größe", "ort", "preis", "tag"]
# Excel in German: a line that names the separator, a mark, CRLF, groups of digits
write("excel-german.csv", "\r\n".join(["sep=;", ";".join(head), *rows(";", ",", ".")]) + "\r\n", "utf-8-sig")
# LibreOffice in French: windows-1252, semicolons, blanks that do not break between groups
write("libreoffice-french.csv", "\n".join([";".join(head), *rows(";", ",", "\u00a0")]) + "\n", "cp1252")
# R's write.csv2: names in quotes, NA, decimal commas; row.names=FALSE
write("r-csv2.csv", "\n".join([";".join(f'"{h}"' for h in head)] + [
    ";".join("NA" if pd.isna(x) else (str(x).replace(".", ",") if isinstance(x, float) else f'"{x}"') for x in r) for r in t.itertuples(index=False)]) + "\n")
# A report: a title above the header, currencies, groups of digits in quotes, percent signs
write("report.csv", "Monthly report\n\n" + ",".join(head) + "\n" + "".join(
    ",".join(["" if pd.isna(g) else f"{g}%", f'"{o}"', "" if pd.isna(p) else f'"€{p:,.2f}"', "" if pd.isna(d) else d]) + "\n" for g, o, p, d in t.itertuples(index=False)))
# A Mac of long ago: carriage returns alone
write("mac.csv", t.to_csv(index=False).replace("\n", "\r"))
