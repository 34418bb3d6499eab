"""Writes a column of every type of Arrow and of Parquet, with values, without any, and without rows, and README.md, which says
what wrote each file. It needs pandas, pyarrow, polars and duckdb. TestTypes in dataset reads the files."""
import datetime, decimal, os, uuid
import duckdb, numpy as np, pandas as pd, polars as pl
import pyarrow as pa, pyarrow.compute as pc, pyarrow.parquet as pq

day, clock, stamp = datetime.date(2024, 2, 29), datetime.time(13, 30, 15), datetime.datetime(2024, 2, 29, 13, 30, 15)
later = datetime.datetime(2024, 7, 1, 6, 0)


def two(type, first, second):
    """A column of two values and a cell without one between them."""
    return pa.array([first, None, second], type)


def views(type):
    return two(type, "x", "a text that is longer than a view")


common = {
    "null": pa.nulls(3),
    "bool": two(pa.bool_(), True, False),
    **{str(t): two(t, 1, 100) for t in (pa.int8(), pa.uint8(), pa.int16(), pa.uint16(), pa.int32(), pa.uint32())},
    "int64": two(pa.int64(), -1, 2**53),
    "uint64": two(pa.uint64(), 1, 2**64 - 1),
    "float16": pa.array([np.float16(1.5), None, np.float16(-0.25)], pa.float16()),
    "float32": two(pa.float32(), 1.5, -0.1),
    "float64": two(pa.float64(), 1.5, -0.1),
    "decimal32": two(pa.decimal32(7, 3), decimal.Decimal("1.250"), decimal.Decimal("-0.001")),
    "decimal64": two(pa.decimal64(15, 3), decimal.Decimal("1.250"), decimal.Decimal("-0.001")),
    "decimal128": two(pa.decimal128(30, 3), decimal.Decimal("1.250"), decimal.Decimal("-0.001")),
    "decimal256": two(pa.decimal256(60, 3), decimal.Decimal("1.250"), decimal.Decimal("-0.001")),
    "date32": two(pa.date32(), day, day),
    "date64": two(pa.date64(), day, day),
    "time32": two(pa.time32("s"), clock, clock),
    "time64": two(pa.time64("ns"), clock, clock),
    **{"timestamp_" + u: two(pa.timestamp(u), stamp, later) for u in ("s", "ms", "us", "ns")},
    "zone": two(pa.timestamp("us", "America/New_York"), stamp, later),
    "offset": two(pa.timestamp("ms", "+02:00"), stamp, later),
    "duration": two(pa.duration("s"), datetime.timedelta(seconds=90), datetime.timedelta(0)),
    "string": two(pa.string(), "x", "a, b"),
    "large_string": two(pa.large_string(), "x", "a, b"),
    "binary": two(pa.binary(), b"x", b"a, b"),
    "large_binary": two(pa.large_binary(), b"x", b"a, b"),
    "uuid": two(pa.uuid(), uuid.UUID(int=1).bytes, uuid.UUID("12345678-9abc-def0-1122-334455667788").bytes),
    "dictionary": two(pa.string(), "x", "a, b").dictionary_encode(),
    "dictionary_int": two(pa.int64(), 7, 8).dictionary_encode(),
    "fixed": two(pa.binary(2), b"ab", b"cd"),
    "list": two(pa.list_(pa.int8()), [1], [2]),
    "struct": two(pa.struct([("a", pa.int8())]), {"a": 1}, {"a": 2}),
}
arrow = pa.table({
    **common,
    "string_view": views(pa.string_view()),
    "binary_view": pc.cast(views(pa.string()), pa.binary()).cast(pa.binary_view()),
    "decimal_thousands": two(pa.decimal128(5, -3), decimal.Decimal(2000), decimal.Decimal(-3000)),
    "bool8": pa.ExtensionArray.from_storage(pa.bool8(), two(pa.int8(), 1, 0)),
    "dictionary_null": pa.nulls(3).dictionary_encode(),
    "dictionary_one_null": pa.DictionaryArray.from_arrays(pa.array([0, None, 0], pa.int8()), pa.nulls(1)),
    "runs": pc.run_end_encode(two(pa.float64(), 1.5, -0.1)),
    "runs_text": pc.run_end_encode(two(pa.string(), "x", "a, b"), run_end_type=pa.int16()),
    "runs_null": pc.run_end_encode(two(pa.int64(), None, None)),
    "interval": two(pa.month_day_nano_interval(), (1, 2, 3), (4, 5, 6)),
    "map": two(pa.map_(pa.string(), pa.int8()), [("a", 1)], [("b", 2)]),
    "fixed_list": two(pa.list_(pa.int8(), 2), [1, 2], [3, 4]),
    "list_view": two(pa.list_view(pa.int8()), [1], [2]),
    "large_list": two(pa.large_list(pa.int8()), [1], [2]),
    "unknown_zone": two(pa.timestamp("us", "Mars/Olympus"), stamp, later),
    "last": two(pa.int32(), 1, 2),                                               # what stands before it must be passed over rightly
})
parquet = pa.table({**common, "last": arrow["last"]})


def without(table):
    """The table with no value in any column."""
    return pa.table({n: pa.nulls(3).cast(t) if pa.types.is_null(t) else empty(t) for n, t in zip(table.column_names, table.schema.types)}, schema=table.schema)


def empty(type):
    if isinstance(type, pa.BaseExtensionType):
        return pa.ExtensionArray.from_storage(type, pa.nulls(3, type.storage_type))
    if pa.types.is_run_end_encoded(type):
        return pc.run_end_encode(pa.nulls(3, type.value_type), run_end_type=type.run_end_type)
    if pa.types.is_dictionary(type):
        return pa.DictionaryArray.from_arrays(pa.nulls(3, type.index_type), pa.nulls(0, type.value_type))
    return pa.nulls(3, type)


def ipc(name, schema, batches):
    new = pa.ipc.new_stream if name.endswith("s") else pa.ipc.new_file
    with new(name, schema) as w:
        for b in batches:
            w.write_batch(b)


for suffix in ("arrow", "arrows"):
    ipc("values." + suffix, arrow.schema, arrow.to_batches())
    ipc("nulls." + suffix, arrow.schema, without(arrow).to_batches())
    ipc("rows0." + suffix, arrow.schema, [pa.RecordBatch.from_arrays([c.slice(0, 0).combine_chunks() if c.num_chunks != 1 else c.chunk(0).slice(0, 0) for c in arrow.columns], schema=arrow.schema)])
    ipc("batches0." + suffix, arrow.schema, [])
pq.write_table(parquet, "values.parquet")
pq.write_table(without(parquet), "nulls.parquet")
pq.write_table(parquet.slice(0, 0), "rows0.parquet")
with pq.ParquetWriter("groups0.parquet", parquet.schema) as w:
    pass
times = pa.table({"time": two(pa.timestamp("ns"), stamp, later), "last": arrow["last"]})
pq.write_table(times, "int96.parquet", use_deprecated_int96_timestamps=True)
pq.write_table(without(times), "int96-nulls.parquet", use_deprecated_int96_timestamps=True)
pq.write_table(times.slice(0, 0), "int96-rows0.parquet", use_deprecated_int96_timestamps=True)
duckdb.sql("""copy (select i::uuid as uuid, v::interval as interval, row_number() over () as last from (values ('00000000-0000-0000-0000-000000000001', '1 day'),
(null, null), ('12345678-9abc-def0-1122-334455667788', '2 months')) t(i, v)) to 'duckdb.parquet' (format parquet)""")

# The same times in the zones of pandas and Polars, as CSV and as files with types
when = pd.to_datetime(["2024-01-15 04:30:00", None, "2024-07-15 10:00:00", "2024-11-03 05:30:00", "2024-11-03 06:30:00"]).tz_localize("UTC")
for name, zone in (("new-york", "America/New_York"), ("kolkata", "Asia/Kolkata"), ("utc", "UTC")):
    t = pd.DataFrame({"time": when.tz_convert(zone), "n": range(len(when))})
    t.to_csv(f"zone-pandas-{name}.csv", index=False)
    t.to_feather(f"zone-pandas-{name}.feather")
    t.to_parquet(f"zone-pandas-{name}.parquet")
    p = pl.from_pandas(t)
    p.write_csv(f"zone-polars-{name}.csv", datetime_format="%Y-%m-%d %H:%M:%S%:z")
    p.write_ipc(f"zone-polars-{name}.arrow")
    p.write_parquet(f"zone-polars-{name}.parquet")
t = pd.DataFrame({"time": when.tz_convert(datetime.timezone(datetime.timedelta(hours=-3, minutes=-30))), "n": range(len(when))})
t.to_csv("zone-pandas-offset.csv", index=False)
t.to_feather("zone-pandas-offset.feather")
t.to_parquet("zone-pandas-offset.parquet")

with open("README.md", "w") as f:
    f.write("# Columns of every type\n\n`write.py` writes these files and this page. `TestTypes` and `TestZonedTimesAreClockTimes` in `dataset` read them.\n\n| file | written by |\n| --- | --- |\n")
    for name in sorted(os.listdir(".")):
        if name in ("write.py", "README.md"):
            continue
        by = f"pandas {pd.__version__} with pyarrow {pa.__version__}" if "pandas" in name else f"Polars {pl.__version__}" if "polars" in name else f"DuckDB {duckdb.__version__}" if "duckdb" in name else f"pyarrow {pa.__version__}"
        f.write(f"| `{name}` | {by} |\n")
