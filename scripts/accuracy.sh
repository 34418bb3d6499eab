#!/bin/sh
# Makes the figures of `auto` and of the other methods in a table of docs/lab/accuracy.md; those of other tools
# come from scripts/compete.sh.
#   scripts/accuracy.sh TABLE [FOLDER]
# TABLE is one of linear, methods, number, distinct, low, high, categories, classes, many-classes, few. FOLDER has the public
# tables (default ../shared/data). Arguments after FOLDER go to `dptrain bench`. A table takes minutes to hours. distinct
# has one of each set of equal rows, on the four tables where more than .5% of the rows have an equal one; DISTINCT names
# a folder that keeps these tables, for scripts/compete.sh public.
set -eu
cd "$(dirname "$0")/.."
table=${1:?a table: linear, methods, number, distinct, low, high, categories, classes, many-classes or few}
data=${2:-../shared/data}
shift "$(($# < 2 ? $# : 2))"
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
trap 'exit 130' INT TERM
CGO_ENABLED=0 go build -o "$dir/dptrain" ./cmd/dptrain
bench() { "$dir/dptrain" bench --public "$@"; }
numbers="$data/regression"
case $table in
linear) bench --method joint-gram,nonprivate-ols,nonprivate-ridge,nonprivate-lasso --data "$numbers" "$@" ;;
methods)
	bench --method boosted-additive,joint-gram,kendall+joint-gram,adassp,boosted-adassp,kendall+boosted-adassp --data "$numbers" "$@"
	;;
number) bench --method auto --data "$numbers" "$@" ;;
distinct)
	distinct=${DISTINCT:-$dir/distinct}
	mkdir -p "$distinct"
	for name in wine_quality diamonds power_plant protein_CASP; do
		for file in "$numbers"/*_"$name".csv.gz; do
			gzip -dc "$file" | awk 'NR == 1 || !seen[$0]++' | gzip >"$distinct/${file##*/}"
		done
	done
	bench --method auto --data "$distinct" "$@"
	;;
low) bench --method auto,boosted-additive --epsilon .3 --data "$numbers" "$@" ;;
high) bench --method auto --epsilon 3 --data "$numbers" "$@" ;;
categories)
	for epsilon in .3 'ln(3)'; do
		bench --method joint-gram,auto --categories --trials 20 --epsilon "$epsilon" \
			--data "$data/more/lending_club_cat.csv.gz" --data "$data/more/hotel_rates_cat.csv.gz" "$@"
		bench --method joint-gram --categories --epsilon "$epsilon" --target age \
			--data "$data/classification/adult.raw.csv.gz" "$@"
	done
	;;
classes | many-classes)
	tables='spambase magic'
	[ "$table" = classes ] || tables='letters satellite penbased segment vowel'
	for name in $tables; do
		for file in "$data"/*/"$name".csv.gz; do
			bench --task classification --epsilon 1 --delta 1e-6 --method auto --data "$file" "$@"
		done
	done
	[ "$table" = many-classes ] && exit
	bench --task classification --categories --epsilon 1 --delta 1e-6 --method auto --target income \
		--data "$data/classification/adult.raw.csv.gz" "$@"
	bench --task classification --epsilon 1 --delta 1e-6 --method auto --target default.payment.next.month \
		--data "$data/classification/credit_default.raw.csv.gz" "$@"
	;;
few) bench --method auto --epsilon 1 --rows 1500 --trials 10 --data "$numbers" "$@" ;;
*)
	echo "scripts/accuracy.sh: there is no table $table" >&2
	exit 2
	;;
esac
