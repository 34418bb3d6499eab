#!/usr/bin/env bash
# Builds the wheel of this machine's platform, installs it in an environment of its own, and runs python/tests there, the
# notebook of python/tutorial included. It skips with a reason where there is no Python to do it with.
# Run it by scripts/runtimes.sh, which sets DPTRAIN_PYTHON.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
if [[ -z ${DPTRAIN_PYTHON:-} ]]; then
  printf 'skipped: no Python with the libraries of python/tests/requirements.txt\n'
  exit 0
fi
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"$root/scripts/wheel.sh" here "$folder/dist" --fast
"$DPTRAIN_PYTHON" -m venv --without-pip "$folder/env"
"$DPTRAIN_PYTHON" -c 'import sysconfig; print(sysconfig.get_path("purelib"))' >"$("$folder/env/bin/python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')/libraries.pth"
"$folder/env/bin/python" -m pip install -q --no-deps --no-index --disable-pip-version-check "$folder"/dist/*.whl
cp -r "$root/python/tests" "$folder/tests"
cp -r "$root/testdata" "$folder/testdata"
mkdir -p "$folder/pages/python" "$folder/python"
cp -r "$root/python/tutorial" "$folder/python/tutorial"
cp -r "$root/docs" "$root"/*.md "$folder/pages"
cp "$root/python/README.md" "$folder/pages/python"
cd "$folder/tests"
env -u DPTRAIN PATH="$folder/env/bin:$PATH" DPTRAIN_TESTDATA="$folder/testdata" DPTRAIN_PAGES="$folder/pages" DPTRAIN_TUTORIAL="$folder/python/tutorial" "$folder/env/bin/python" -m pytest -q --no-header -p no:cacheprovider "$@"
