// Package bench runs experiments on public data: how good are the models that a
// private method trains, next to other methods and to training without privacy?
//
// # For public data only
//
// An experiment prints exact held-out metrics of many models of one table. No
// guarantee covers them, so [Run] refuses to start unless [Config.Public] says
// that the tables are public.
//
// [Explain] needs no table at all: it makes synthetic ones of a declared shape,
// to say what error to expect before private data is touched.
//
// # Trials
//
// One trial holds out a tenth of the rows, gives the other nine tenths and the
// whole budget to the method, and measures the exact R² of the predictions on
// the held-out rows ([regression.R2], not clipped), or for classes the accuracy and
// the balanced accuracy ([ScoreClasses]). Ten consecutive trials are
// the ten folds of one random permutation, so that they test every row exactly
// once; the next ten take the next permutation. Every method sees the same
// splits: differences between methods are paired.
//
// Splits come from a public seed ([Config.Seed]) and depend on it, on the
// number of rows and on the trial only. They are not a privacy mechanism. The
// privacy noise of a trial is as fresh and secret as in any other run and cannot
// be repeated.
//
// Rows whose target is missing are not tested on. A trial that gives no number
// (the method failed or abstained, or no row was left to test on) becomes a row
// with an error, and the others go on.
//
// # Methods
//
// A method is a model, such as "joint-gram", or "selection+model", or
// "selection:k+model" ([ParseMethod]), and takes the target as given, every
// other column as a numeric feature, and nothing as declared. A recipe file is a
// method too, named after the file: it brings its own declared columns,
// selection, model, relation and budget; only its held-out share is not used.
package bench
