// Package testkit has what tests of several packages need and no program imports: the public data sets, tests of
// samplers against their distributions, and elementary functions with 256 bits as a reference for the error bounds of
// float64 arithmetic. It imports no package of this module, so that the tests of every package can use it.
package testkit
