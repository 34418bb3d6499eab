//go:build (amd64 || arm64) && !purego

package gram

// check panics if assembly would leave the slices.
func (t *tile) check() {
	_ = t.dst[(t.h-1)*t.row+t.w-1]
	_ = t.a[(t.h-1)*t.stride+t.rows-1]
	_ = t.b[(t.w-1)*t.stride+t.rows-1]
}
