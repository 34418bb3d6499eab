#!/usr/bin/env bash
# Two processes debit one ledger, 1,000 runs each, and are killed at random (kill -9)
# until they end: reserved plus committed is never below what was released and
# never above the total. Another number of runs:  scripts/ledger-kill.sh 200
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
exec go test ./internal/ledger -run '^TestTwoProcessesKilled$' -count 1 -v -timeout 60m -args -debits "${1:-1000}"
