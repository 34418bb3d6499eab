// Package coverage measures, on public data, whether the held-out R² of a run is calibrated: how often its interval
// contains the R² of records that the run never saw, how far the reported value is from it, and how often prediction
// intervals contain a new target.
//
// The package consists of tests, which are also the program:
//
//	scripts/long.sh coverage OUT            all of it
//	go test -C experiments ./coverage -run Laws      laws, -runs releases of each setting
//	go test -C experiments ./coverage -run Tables    tables, -runs fits of each
//	go test -C experiments ./coverage -run Split     80% to fit, 20% to compare, all tables
//	go test -C experiments ./coverage -run Classes   accuracy, recalls, AUC and log loss of classifiers, laws and tables
//	go test -C experiments ./coverage -run Groups    metrics by group, -runs releases of each setting
//	go test -C experiments ./coverage -run Descriptions   the intervals of descriptions, -runs releases of 20 generated tables
//
// A setting is one line of JSON in the file of the flag -out. A run with the same file continues where the last one
// ended. Without flags the tests run a small sample of each measurement.
package coverage
