//go:build (!amd64 && !arm64) || purego

package gram

// fastest returns the portable tile: there is no assembly for this build.
func fastest() tileFunc { return tileGo }
