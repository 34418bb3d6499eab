//go:build !amd64 || purego

package gram

// fastest returns the portable tile: there is no assembly for this build.
func fastest() tileFunc { return tileGo }
