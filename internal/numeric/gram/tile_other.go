//go:build (!amd64 && !arm64) || purego

package gram

// fastestTile returns the portable tile: there is no assembly for this build.
func fastestTile() tileFunc {
	return tileGo
}
