//go:build !replay

package mechanism

// tap records the releases of a session in test builds. It is empty in all other builds, where exact
// values are only used to add noise.
type tap struct{}

// coinFault is empty outside test builds.
type coinFault struct{}

func (tap) coinFault() coinFault {
	return coinFault{}
}

// coinIdentity returns the identity from which the coin of record k is computed.
func (coinFault) coinIdentity(_ int, id uint64) uint64 {
	return id
}

func (tap) watchVector(_ ticket, _ Vector, _ float64, out Vector) Vector {
	return out
}
func (tap) watchCells(_ ticket, _ Vector, _ float64, out Vector) Vector {
	return out
}
func (tap) watchSymmetric(_ ticket, _ Symmetric, _ float64, out Vector) Vector {
	return out
}
func (tap) watchWeighted(_ ticket, _ Weighted, _ float64, out Vector) Vector {
	return out
}
func (tap) watchChoice(_ ticket, _ Vector, _ float64, out int) int {
	return out
}
func (tap) watchChoices(_ ticket, _ Vector, _ float64, out []int) []int {
	return out
}
func (tap) watchLists(_ ticket, _ Lists, _ float64, out []int) []int {
	return out
}
func (tap) watchWords(_ ticket, _ Lexicon, _ float64, out [][]Word) [][]Word {
	return out
}
func (tap) watchTries(_ string, k int) int {
	return k
}
func (tap) keepsColumns() bool {
	return false
}
func (tap) watchPoints(_ ticket, _ Cloud, out Vector) Vector {
	return out
}
