// Package testkit provides helpers for the tests of several packages: access to the public data sets, tests of samplers
// against their distributions, and elementary functions with 256 bits as a reference for the error bounds of float64
// arithmetic. No program imports it. It imports no other package of this module, so any test can use it.
package testkit
