//go:build !golearn && !replay

package bench

import (
	"fmt"

	"github.com/dptrain/dptrain/internal/sys/fault"
	"github.com/dptrain/dptrain/internal/train/pipeline"
)

// byGolearn refuses the methods of golearn. Released programs do not contain golearn: the licence of one of its
// dependencies, dataframe-go, restricts how a program may be used.
func byGolearn(name string, _ *pipeline.Pipeline, _ uint64) (trainer, error) {
	return nil, fault.New(fault.Usage, fmt.Sprintf("%s is not part of this build; "+
		"`go build -tags golearn ./cmd/dptrain` includes it", name))
}
