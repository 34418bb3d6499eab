//go:build !purego

package kernelmap

import "golang.org/x/sys/cpu"

// assemblyTiles lists the tiles in assembly that this processor can run.
func assemblyTiles() []tileFunc {
	var out []tileFunc
	if cpu.X86.HasAVX2 {
		out = append(out, tileSIMD)
	}
	if cpu.X86.HasAVX512F && cpu.X86.HasAVX512VNNI {
		out = append(out, tileVNNI)
	}
	return out
}
