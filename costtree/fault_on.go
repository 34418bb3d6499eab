//go:build replay

package costtree

import "github.com/dptrain/dptrain/internal/mechanism"

// extraDraws returns how many draws more a level takes if each of its nodes pays its own.
func extraDraws(s *mechanism.Session, nodes int) int {
	if s.Planted(mechanism.NodesNotShared) {
		return nodes - 1
	}
	return 0
}
