// Package prototypes has the classifier by prototypes, as settings for the field Model of a run.
package prototypes

// Prototypes assigns a record to the class with the nearest of a few reference vectors per class: the private form of
// stochastic neighbour compression (M. Kusner, S. Tyree, K. Weinberger, K. Agrawal, "Stochastic neighbor compression",
// 2014; docs/proofs/prototypes.md, "Algorithm"). All classes share one price, so it is the default for more than two classes. It has
// no settings and needs a delta.
type Prototypes struct{}

// Name returns "prototypes".
func (Prototypes) Name() string {
	return "prototypes"
}
