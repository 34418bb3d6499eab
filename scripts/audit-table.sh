#!/usr/bin/env bash
# Audits every example recipe at epsilon .5, 1 and 3 and prints a table for
# docs/audit.md: of the steps of a recipe the largest share of its claim that was
# measured, and the whole run. Takes hours with the default numbers; arguments go
# to `dptrain audit`:  scripts/audit-table.sh --runs 1000 --draws 20000
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
go build -o "$folder/dptrain" ./cmd/dptrain
mkdir "$folder/examples" "$folder/testdata"
cp testdata/*.csv "$folder/testdata"

echo '| recipe | epsilon | steps | violations | closest step | measured / claimed | run: epsilon | run: mu / claimed |'
echo '| --- | --- | --- | --- | --- | --- | --- | --- |'
for recipe in examples/*.yaml; do
  for epsilon in 0.5 1 3; do
    sed -E "s/^  epsilon: .*/  epsilon: $epsilon/" "$recipe" > "$folder/$recipe"
    "$folder/dptrain" audit "$folder/$recipe" "$@" --json > "$folder/out.json"
    python3 - "$(basename "$recipe" .yaml)" "$folder/out.json" <<'PY'
import json
import sys

name, path = sys.argv[1:]
with open(path) as f:
    v = json.load(f)


def share(step):
    if step["law"] == "gaussian":
        return step["measured_mu"] / step["mu"]
    return step["measured_epsilon"] / step["epsilon"]


best = max(v["steps"], key=share)
run = v["run"]
mu = f"{run['measured_mu']:.3f} / {run['mu']:.3f}" if run["mu"] else f"{run['measured_mu']:.3f}"
print(f"| {name} | {run['epsilon']:g} | {len(v['steps'])} | {len(v['violations'])} | {best['id']} | {share(best):.2f} | {run['measured_epsilon']:.2f} | {mu} |")
PY
  done
done
