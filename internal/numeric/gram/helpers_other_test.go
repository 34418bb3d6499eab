//go:build (!amd64 && !arm64) || purego

package gram

func assemblyTiles() []namedTile {
	return nil
}
