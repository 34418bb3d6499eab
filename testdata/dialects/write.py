"""Writes one synthetic table in many dialects, and README.md, which says what wrote each. Files "by hand" follow the
documented form of a program that was not at hand. It needs pandas, pyarrow, polars, duckdb, openpyxl and xlsxwriter, and R,
LibreOffice, Gnumeric, SQLite, PostgreSQL (of a user who may run it: PGUSER_OS), mawk and Node in the path."""
import csv, datetime, io, json, os, re, shutil, subprocess, tempfile
import duckdb, openpyxl, pandas as pd, polars as pl, xlsxwriter
import pyarrow.feather, pyarrow.csv, pyarrow.parquet, pyarrow as pa

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
pa.parquet.write_table(table, "pyarrow.parquet")
pyarrow.feather.write_feather(table, "pyarrow.feather")                          # LZ4
typed = pa.table({
    "größe": pa.array(t["größe"], pa.float64()), "ort": pa.array(t["ort"]).dictionary_encode(), "preis": pa.array(t["preis"], pa.float32()),
    "tag": pa.array([None if pd.isna(d) else datetime.date.fromisoformat(d) for d in t["tag"]], pa.date32())})
pyarrow.feather.write_feather(typed, "pyarrow-typed.feather", compression="zstd", chunksize=4)   # a dictionary, dates, two batches
with pa.ipc.new_stream("pyarrow-stream.arrows", table.schema) as w:
    w.write_table(table, max_chunksize=5)
pyarrow.feather.write_feather(table, "pyarrow-v1.feather", version=1)
t.to_excel("pandas.xlsx", index=False)                                           # by openpyxl

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
# A report: a title above the header, currencies, groups of digits in quotes, percent signs
write("report.csv", "Monthly report\n\n" + ",".join(head) + "\n" + "".join(
    ",".join(["" if pd.isna(g) else f"{g}%", f'"{o}"', "" if pd.isna(p) else f'"€{p:,.2f}"', "" if pd.isna(d) else d]) + "\n" for g, o, p, d in t.itertuples(index=False)))
# A Mac of long ago: carriage returns alone
write("mac.csv", t.to_csv(index=False).replace("\n", "\r"))

# Polars
p = pl.from_arrow(table)
p.write_csv("polars.csv")
p.write_ipc("polars.arrow")                                                      # views of strings
p.write_ipc("polars-lz4.arrow", compression="lz4")                               # frames with a checksum for each block
p.with_columns(pl.col("ort").cast(pl.Categorical), pl.col("tag").str.to_datetime()).write_ipc("polars-typed.arrow", compression="zstd")
p.write_parquet("polars.parquet")

# XlsxWriter, as Excel has it: a title, dates and percentages as numbers with formats, two sheets, the calendar of 1904
with xlsxwriter.Workbook("xlsxwriter.xlsx", {"date_1904": True}) as w:
    w.add_worksheet("Notes").write(0, 0, "nothing here")
    sheet, day = w.add_worksheet("Daten"), w.add_format({"num_format": "dd.mm.yyyy"})
    sheet.write(0, 0, "Monthly report")
    sheet.write_row(2, 0, t.columns)
    for i, (g, o, preis, d) in enumerate(t.itertuples(index=False), 3):
        sheet.write(i, 1, o)
        if not pd.isna(g):
            sheet.write_formula(i, 0, f"={g}", None, g)
        if not pd.isna(preis):
            sheet.write_number(i, 2, preis, w.add_format({"num_format": "#,##0.00 [$€-407]"}))
        if not pd.isna(d):
            sheet.write_datetime(i, 3, datetime.date.fromisoformat(d), day)

def run(*args, stdin=None, out=None, **more):
    got = subprocess.run(args, input=stdin, check=True, capture_output=True, **more).stdout
    if out:
        open(out, "wb").write(got)
    return got.decode()

duckdb.sql("create table t as select * from p")
duckdb.sql("copy t to 'duckdb.csv'")
duckdb.sql("copy t to 'duckdb-semicolon.csv' (delimiter ';', nullstr 'NULL', force_quote (ort))")
duckdb.sql("copy t to 'duckdb.jsonl' (format json)")

load = "create table t(größe real, ort text, preis real, tag text);\n.import --csv --skip 1 pandas.csv t\nupdate t set größe = nullif(größe, ''), preis = nullif(preis, ''), tag = nullif(tag, '');\n"
for mode, name in ((".mode csv", "sqlite.csv"), (".mode list", "sqlite-list.csv"), (".mode tabs", "sqlite.tsv")):
    run("sqlite3", ":memory:", stdin=(load + ".headers on\n" + mode + "\nselect * from t;\n").encode(), out=name)

run("Rscript", "-e", """t <- read.csv("pandas.csv", na.strings="", check.names=FALSE, encoding="UTF-8"); write.csv(t, "r.csv", row.names=FALSE)
write.csv2(t, "r-csv2.csv", row.names=FALSE); write.csv(t, "r-rownames.csv"); write.table(t, "r-table.csv")""", env=dict(os.environ, LC_ALL="C.UTF-8"))

soffice = ["soffice", "--headless", "--convert-to"]
with tempfile.TemporaryDirectory() as tmp:
    def convert(to, source, name):
        run(*soffice, to, "--outdir", tmp, source, env=dict(os.environ, HOME=tmp))
        shutil.copy(os.path.join(tmp, os.path.splitext(os.path.basename(source))[0] + "." + to.split(":")[0]), name)
    utf8 = os.path.join(tmp, "table.csv")
    shutil.copy("pandas.csv", utf8)
    run(*soffice, "ods", "--infilter=CSV:44,34,76,1,,1033", "--outdir", tmp, utf8, env=dict(os.environ, HOME=tmp))
    ods = os.path.join(tmp, "table.ods")
    shutil.copy(ods, "libreoffice.ods")
    convert("xlsx:Calc MS Excel 2007 XML", ods, "libreoffice.xlsx")
    convert("xls:MS Excel 97", ods, "libreoffice.xls")
    convert("csv:Text - txt - csv (StarCalc):59,34,1,1", ods, "libreoffice-latin.csv")        # semicolons, windows-1252
    convert("csv:Text - txt - csv (StarCalc):9,34,65535,1", ods, "libreoffice-unicode.csv")  # tabs, UTF-16
    for to, name in (("Gnumeric_stf:stf_csv", "gnumeric.csv"), ("Gnumeric_Excel:xlsx", "gnumeric.xlsx")):
        run("ssconvert", "-T", to, ods, os.path.abspath(name), env=dict(os.environ, HOME=tmp))

# PostgreSQL: a cluster of its own
with tempfile.TemporaryDirectory() as tmp:
    os.chmod(tmp, 0o777)
    prefix = ["runuser", "-u", os.environ["PGUSER_OS"], "--"] if "PGUSER_OS" in os.environ else []
    run(*prefix, "initdb", "-D", tmp + "/db", "--locale", "C", "-E", "UTF8", cwd=tmp)
    run(*prefix, "pg_ctl", "-D", tmp + "/db", "-w", "-l", tmp + "/log", "-o", f"-c listen_addresses= -k {tmp}", "start", cwd=tmp)
    try:
        psql = prefix + ["psql", "-h", tmp, "-d", "postgres", "-v", "ON_ERROR_STOP=1", "-c"]
        run(*psql, "create table t(größe float8, ort text, preis numeric, tag date)", cwd=tmp)
        run(*psql, "copy t from stdin (format csv, header, force_not_null (ort))", stdin=open("pandas.csv", "rb").read(), cwd=tmp)
        run(*psql, "copy t to stdout (format csv, header)", out=os.path.abspath("postgres.csv"), cwd=tmp)
        run(*psql, "copy t to stdout (format text, header)", out=os.path.abspath("postgres-text.tsv"), cwd=tmp)
        run(*psql[:-1], "--csv", "-P", "csv_fieldsep=;", "-c", "select * from t", out=os.path.abspath("psql.csv"), cwd=tmp)
    finally:
        run(*prefix, "pg_ctl", "-D", tmp + "/db", "-w", "stop", cwd=tmp)

run("mawk", "-F", "\t", "-v", "OFS=^", "{$1=$1; print}", "sqlite.tsv", out="mawk.csv")
run("node", "-e", "console.log(JSON.parse(require('fs').readFileSync('pandas.json')).map(r => JSON.stringify(r)).join('\\n'))", out="node.jsonl")

def version(*args):
    return re.search(r"\d+(\.\d+)+", run(*args)).group()

programs = {
    "pandas": f"pandas {pd.__version__}", "pandas.xlsx": f"pandas {pd.__version__} with openpyxl {openpyxl.__version__}", "pyarrow": f"pyarrow {pa.__version__}",
    "polars": f"Polars {pl.__version__}", "xlsxwriter": f"XlsxWriter {xlsxwriter.__version__}", "duckdb": f"DuckDB {duckdb.__version__}",
    "sqlite": "the shell of SQLite " + version("sqlite3", "--version"), "r": "R " + version("Rscript", "--version"),
    "libreoffice": "LibreOffice " + version("soffice", "--version"), "gnumeric": "Gnumeric " + re.search(r"[/-](1\.\d+\.\d+)", subprocess.run(["ssconvert", "--version"], capture_output=True, text=True).stdout + subprocess.run(["ssconvert", "--version"], capture_output=True, text=True).stderr).group(1),
    "postgres": "PostgreSQL " + version("postgres", "--version") + ", COPY", "psql": "psql " + version("psql", "--version") + ", --csv",
    "mawk": "mawk " + re.search(r"\d+(\.\d+)+", subprocess.run(["mawk", "-W", "version"], capture_output=True, text=True).stdout).group(), "node": "Node " + version("node", "--version"),
    "libreoffice-french.csv": "by hand", "excel-unicode.txt.csv": f"pandas {pd.__version__}, in the form of Excel", "excel-german.csv": "by hand", "report.csv": "by hand", "mac.csv": "by hand",
}
with open("README.md", "w") as f:
    f.write("# One table in many dialects\n\n`write.py` writes these files of one made-up table of six rows, and this page. `TestDialects` in `cmd/dptrain` reads them.\n\n| file | written by |\n| --- | --- |\n")
    for name in sorted(os.listdir(".")):
        if name not in ("write.py", "README.md"):
            f.write(f"| `{name}` | {programs.get(name) or programs[re.split('[-.]', name)[0]]} |\n")

# A larger table of the same cells in four formats
houses = pd.read_csv("../houses.csv").head(400)
houses.to_csv("../formats/houses.csv", index=False)
houses.to_excel("../formats/houses.xlsx", index=False)
houses.to_parquet("../formats/houses.parquet", index=False)
houses.to_feather("../formats/houses.feather")
pl.from_pandas(houses).write_ipc("../formats/houses.arrow")
