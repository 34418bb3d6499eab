//go:build replay

package costtree

import "github.com/dptrain/dptrain/internal/mechanism"

// extraDraws returns the number of additional draws of a level if each of its nodes pays for its own.
func extraDraws(s *mechanism.Session, nodes int) int {
	if s.Planted(mechanism.NodesNotShared) {
		return nodes - 1
	}
	return 0
}
