//go:build !purego

package gram

import "golang.org/x/sys/cpu"

// assemblyTiles lists the tiles in assembly that this processor can run.
func assemblyTiles() []namedTile {
	var out []namedTile
	if cpu.X86.HasAVX2 {
		out = append(out, namedTile{"avx2", tileAVX2})
	}
	if cpu.X86.HasAVX512BW && cpu.X86.HasAVX512VNNI {
		out = append(out, namedTile{"vnni", tileVNNI})
	}
	return out
}
