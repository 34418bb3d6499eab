package ram

import "testing"

// TestMakeBytes checks that memory has the requested length, is zero, and can be written at both ends.
func TestMakeBytes(t *testing.T) {
	for _, n := range []int{0, 1, pageSize - 1, pageSize, pageSize + 1, 3*pageSize + 7,
		16 * pageSize} {
		b := MakeBytes(n)
		if len(b) != n {
			t.Fatalf(
				"%d bytes for %d",
				len(b), n,
			)
		}
		for i := range b {
			if b[i] != 0 {
				t.Fatalf(
					"byte %d of %d is %d",
					i, n, b[i],
				)
			}
			b[i] = byte(i)
		}
	}
}
