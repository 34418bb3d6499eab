//go:build !replay

package mechanism

import (
	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/internal/noise"
)

// runKey draws the key of a run from the operating system. It fails only when
// the operating system's random source does.
func runKey(*budget.Priced, string) (noise.Key, error) {
	return noise.FreshKey()
}
