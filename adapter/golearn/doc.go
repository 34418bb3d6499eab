// Package golearn lets users of github.com/sjwhitworth/golearn pass their data
// grids to this module, and use its models as golearn classifiers. It imports
// golearn's base and evaluation packages only, and builds without cgo.
//
// # Grids in
//
// [Table] converts a grid to the input table of a private fit, under a declared schema. The metadata of a grid is
// not a declaration: golearn's reader collects the categories of an attribute from the rows, so publishing them
// would publish the content of rows. A category outside the declared list becomes "other" here, and an attribute
// that the schema does not name is left out. [Rows] converts a grid to the input rows of a trained model, and
// [Design] to the input of the non-private baselines of package nonprivate.
//
// Numbers come from float attributes and from binary ones, as 0 and 1;
// categories from categorical attributes and from binary ones, as "0" and "1".
//
// # Models out
//
// [Classifier] is a model behind golearn's base.Classifier interface: Predict
// returns a grid with the class attribute alone. For a regression model that
// is a float attribute. golearn compares classes as text, floats with the two
// decimals of their attribute, so judge regression by [Target] and the metrics
// of package regression, and use [Confusion] for categorical classes only.
//
// Fit returns an error, unless the classifier was made with a [FitFunc]: a grid has
// no schema and no privacy budget, and a private fit needs both. Such a fit
// runs through package pipeline, which prices it first.
//
// # Where golearn's grids disagree with themselves
//
// A view made with NewInstancesViewFromRows or LazyShuffle has its rows in one
// order for Get and in another for MapOverRows; lazily filtered instances pass,
// in MapOverRows alone, every attribute through the filter; and
// ResolveAttributes sorts with a comparison that is always false, which may
// change the order of many attributes. This package therefore resolves each
// attribute on its own, uses MapOverRows for dense instances only, and reads
// any other grid with Get, which is what golearn's own evaluation does. It
// does not use golearn's CSV reading, splitting, random numbers or models.
package golearn
