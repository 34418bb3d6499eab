package budget

import (
	"reflect"
	"slices"
	"sync"
)

// maxRemembered is the number of trees whose prices [Calibrate] remembers. A run plans its tree, prices it again to
// verify its report, and is often repeated: by trials, folds and tests.
const maxRemembered = 32

// A priceMemo remembers the latest results of [Calibrate], the most recently used last. Laws depend on the tree and
// the target only, so a remembered result is that of another calibration.
type priceMemo struct {
	mu     sync.Mutex
	latest []rememberedPrice
}

type rememberedPrice struct {
	root   Node // without laws of calibrations
	target Target
	priced *Priced
}

var memo priceMemo

// find returns an unclaimed run of the remembered tree that equals root, or nil.
func (m *priceMemo) find(root Node, t Target) *Priced {
	m.mu.Lock()
	defer m.mu.Unlock()
	for i := len(m.latest) - 1; i >= 0; i-- {
		if r := m.latest[i]; r.target == t && reflect.DeepEqual(r.root, root) {
			m.latest = append(slices.Delete(m.latest, i, i+1), r)
			return r.priced.Again()
		}
	}
	return nil
}

// remember adds a result and forgets the one that was not used for longest.
func (m *priceMemo) remember(root Node, priced *Priced) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.latest) == maxRemembered {
		m.latest = slices.Delete(m.latest, 0, 1)
	}
	m.latest = append(m.latest, rememberedPrice{root, priced.target, priced})
}
