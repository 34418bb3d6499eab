// Package vocabulary finds out whether undeclared columns contain numbers or text, and finds their text categories. docs/proofs/vocabulary.md, "Algorithm", describes it.
//
// One release of counts separates numeric columns from text columns, and another one contains the categories of all text
// columns. As a stage of a run it precedes the training:
//
//	train (seq): vocabulary: kinds, counts, words
//	             train: the selection, scaling and model, or a search
//
// and the second train sees columns as if the words were declared. If no column is known to contain text, words
// are paid for only if the kinds show that some column does. Then each branch of the training becomes
//
//	branch (seq): vocabulary: kinds
//	              undeclared (one of): numbers: the steps
//	                                   words:   vocabulary: counts, words
//	                                            the steps
//
// A search, whose tries see the same columns, pays for words whatever the kinds are, because a choice between
// two searches takes minutes to price. The kinds precede the choice in the same sequence, and the price of the
// choice is that of its most expensive branch at each epsilon ([budget.Branches]). The prices are fixed in the
// plan; the noise of the words depends on the number of columns, which was released.
//
// Runs that train no model use the same steps by [KindSteps], [WordSteps], [FindTextColumns] and [FindCategories].
package vocabulary
