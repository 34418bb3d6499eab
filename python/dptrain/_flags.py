"""Parameters of the estimators that are flags of the program, by how a value is written.

Made from the flags: go test ./cmd/dptrain -run TestPythonFlags -update
"""

# --flag=VALUE
VALUES = (
    "delta",
    "relation",
    "holdout",
    "by",
    "k",
    "rounds",
    "fallback",
    "undeclared",
    "fold",
    "most_classes",
    "unit",
    "max_rows",
    "select",
    "method",
    "numbers",
)

# --flag=A,B
LISTS = (
    "exclude",
    "encode",
    "private",
    "missing",
)

# --flag=NAME=VALUE for each item
DICTS = (
    "budget",
    "categories",
    "prefix",
    "hash",
)
