// Package bench runs experiments on public data: it compares the models of private methods with those of other
// methods and of training without privacy.
//
// # Public data only
//
// An experiment prints exact held-out metrics of many models of one table. No guarantee covers them, so [Run]
// fails unless [Config.Public] declares that the tables are public.
//
// [Explain] needs no table: it generates synthetic ones of a declared shape, to predict the error before
// private data is used.
//
// # Trials
//
// One trial holds out a tenth of the rows, gives the other nine tenths and the whole budget to the method, and
// measures the exact R² of the predictions on the held-out rows ([regression.R2], not clipped), or for classes
// the accuracy and the balanced accuracy ([ScoreClasses]). Ten consecutive trials are the ten folds of one
// random permutation, so that they test every row exactly once; the next ten use the next permutation. Every
// method sees the same splits: differences between methods are paired.
//
// Splits depend only on a public seed ([Config.Seed]), the number of rows and the trial. They are not a privacy
// mechanism. The privacy noise of a trial is fresh and secret as in any other run and cannot be repeated.
//
// Rows with a missing target are not tested. A trial without a value (the method failed or abstained, or there
// were no rows to test) becomes a row with an error, and the other trials continue.
//
// # Methods
//
// A method is a model, such as "joint-gram", or "selection+model", or "selection:k+model" ([ParseMethod]). It
// uses the given target, treats all other columns as numeric features, and declares no facts. A recipe file is
// a method too, named after the file: it has its own declared columns, selection, model, relation and budget;
// only its held-out share is ignored.
package bench
