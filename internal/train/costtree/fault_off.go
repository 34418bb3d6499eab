//go:build !replay

package costtree

import "github.com/dptrain/dptrain/internal/mechanism"

// Hook at which test builds plant a known fault (fault_on.go). In a shipped binary it has no effect.

func extraDraws(*mechanism.Session, int) int {
	return 0
}
