//go:build !amd64 || purego

package dense

// fastest returns the portable loops: there is no assembly for this build.
func fastest() loops {
	return loops{tileGo, combineGo, rotateGo}
}
