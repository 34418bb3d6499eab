//go:build !replay

package mechanism

// tap is empty outside test builds: exact values reach nothing but the noise.
type tap struct{}

// coinFault is empty outside test builds.
type coinFault struct{}

func (tap) coinFault() coinFault { return coinFault{} }

// identity returns what the coin of record k of a deal is drawn from.
func (coinFault) identity(_ int, id uint64) uint64 { return id }

func (tap) vector(_ ticket, _ Vector, _ float64, out Vector) Vector       { return out }
func (tap) cells(_ ticket, _ Vector, _ float64, out Vector) Vector        { return out }
func (tap) symmetric(_ ticket, _ Symmetric, _ float64, out Vector) Vector { return out }
func (tap) weighted(_ ticket, _ Weighted, _ float64, out Vector) Vector   { return out }
func (tap) choice(_ ticket, _ Vector, _ float64, out int) int             { return out }
func (tap) choices(_ ticket, _ Vector, _ float64, out []int) []int        { return out }
func (tap) lists(_ ticket, _ Lists, _ float64, out []int) []int           { return out }
func (tap) words(_ ticket, _ Lexicon, _ float64, out [][]Word) [][]Word   { return out }
func (tap) runs(_ string, k int) int                                      { return k }
func (tap) keeps() bool                                                   { return false }
func (tap) points(_ ticket, _ Cloud, out Vector) Vector                   { return out }
