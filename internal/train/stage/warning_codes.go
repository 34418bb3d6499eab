package stage

// The codes of all warnings. docs/reference/report.md explains how to react to each, and docs/proofs/formats.md lists them;
// a test compares.

// Of the guarantee.
const (
	CodeNoLedger            = "no-ledger"             // nothing limits the privacy loss of several runs
	CodeSeveralNames        = "several-names"         // the data set may have several names in the ledger
	CodeProtectedAbsent     = "protected-absent"      // a column that earlier runs protected is absent
	CodeLargeEpsilon        = "large-epsilon"         // the guarantee is weak
	CodePublicColumnsUnused = "public-columns-unused" // the method does not benefit from public columns
	CodeTrainingUnprotected = "training-unprotected"  // another part of the records is not protected
)

// Of the columns.
const (
	CodeNoRange        = "no-range"        // the range of a column was not found
	CodeExtremeNumbers = "extreme-numbers" // numbers are beyond the sizes that the search for ranges distinguishes
	CodeUnreadCells    = "unread-cells"    // many cells of a feature are no numbers
	CodeMissingValues  = "missing-values"  // described columns have missing values
	CodeFarValues      = "far-values"      // values of described columns are beyond the range
	CodeWordsFound     = "words-found"     // text columns were detected
	CodeNoWords        = "no-words"        // no value of a text column is frequent enough
	CodeNumbersAsText  = "numbers-as-text" // groups or an encoding make categories of numbers
	CodePrivateRanges  = "private-ranges"  // privately found ranges cost accuracy
	CodeManyColumns    = "many-columns"    // the noise grows with the number of columns
	CodeFewRecords     = "few-records"     // the number of records cannot be told from 0
)

// Of the target.
const (
	CodeNoTarget       = "no-target"       // the target cannot be read, and the run stopped
	CodeMissingTargets = "missing-targets" // many records have no usable target
	CodeTwoValues      = "two-values"      // the numbers of the target may be the labels of two classes
	CodeNoClasses      = "no-classes"      // fewer than two classes, or the declared ones do not occur
	CodeClassesFound   = "classes-found"   // classes were found
	CodeClassesCut     = "classes-cut"     // there are more classes than the model may have
	CodeUnknownClasses = "unknown-classes" // records belong to classes that the model does not know
)

// Of the model and its quality.
const (
	CodeAbstained     = "abstained"      // there is no model
	CodeFallback      = "fallback"       // the model is that of the fallback
	CodeNoMetric      = "no-metric"      // no records were held out
	CodeNoSignal      = "no-signal"      // the model may be no better than guessing
	CodeWideInterval  = "wide-interval"  // the metric reveals little
	CodeMajorityClass = "majority-class" // always answering the most frequent class may be as accurate
	CodeFarTargets    = "far-targets"    // targets are outside the limits of the metric
	CodeLargeErrors   = "large-errors"   // the noise may hide large errors
	CodeGroupGap      = "group-gap"      // the metric differs between groups
	CodeNoGroupGap    = "no-group-gap"   // no difference between groups is visible
	CodeSmallGroups   = "small-groups"   // groups are too small to be measured
	CodeNoConfounder  = "no-confounder"  // a direction assumes that no other column causes both
)
