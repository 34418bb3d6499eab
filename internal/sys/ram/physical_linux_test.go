package ram

import "testing"

func TestPhysical(t *testing.T) {
	n := Physical()
	if n < 1<<24 || n > 1<<50 {
		t.Errorf("the machine has %d bytes of memory", n)
	}
}
