#!/usr/bin/env bash
# Audits every example recipe at epsilon .5, 1 and 3 and prints a table for
# docs/proofs/audit.md, "Every example recipe": of the steps of a recipe the largest share of its claim that was
# measured, and the epsilon of the whole run. Arguments go to `dptrain audit`; with
# its default numbers this takes many hours of processor time, with those of
# docs/proofs/audit.md, "Every example recipe", about a quarter of one:
#   scripts/audit-table.sh --runs 300 --draws 16000 --confidence 0.9999
# It stops with dptrain's message at the first bound that is above its claim.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
go build -o "$folder/dptrain" ./cmd/dptrain
mkdir "$folder/examples" "$folder/testdata"
cp testdata/*.csv "$folder/testdata"

echo '| recipe | steps | closest at .5 | at 1 | at 3 | that is, at 3 | run at .5 | at 1 | at 3 |'
echo '| --- | --- | --- | --- | --- | --- | --- | --- | --- |'
for recipe in examples/*.yaml; do
  outs=()
  for epsilon in 0.5 1 3; do
    sed -E "s/^  epsilon: .*/  epsilon: $epsilon/" "$recipe" > "$folder/$recipe"
    "$folder/dptrain" audit "$folder/$recipe" "$@" --json > "$folder/$epsilon.json"
    outs+=("$folder/$epsilon.json")
  done
  python3 - "$(basename "$recipe" .yaml)" "${outs[@]}" <<'PY'
import json
import sys

name, *paths = sys.argv[1:]
verdicts = []
for path in paths:
    with open(path) as f:
        verdicts.append(json.load(f))


def share(step):
    if step["law"] == "gaussian":
        return step["measured_mu"] / step["mu"]
    return step["measured_epsilon"] / step["epsilon"]


closest = [max(v["steps"], key=share) for v in verdicts]
row = [name, len(verdicts[-1]["steps"])]
row += [f"{share(step):.2f}" for step in closest]
row += ["/".join(closest[-1]["id"].split("/")[-2:])]
row += [f"{v['run']['measured_epsilon']:.2f}" for v in verdicts]
print("|", " | ".join(map(str, row)), "|", flush=True)
PY
done
