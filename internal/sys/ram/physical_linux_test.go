package ram

import "testing"

func TestPhysical(t *testing.T) {
	if n := Physical(); n < 1<<24 || n > 1<<50 {
		t.Errorf("the machine has %d bytes of memory", n)
	}
}
