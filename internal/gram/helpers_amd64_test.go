//go:build !purego

package gram

import "golang.org/x/sys/cpu"

func assembly() bool { return cpu.X86.HasAVX2 }
