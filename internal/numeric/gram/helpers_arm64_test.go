//go:build !purego

package gram

// assemblyTiles lists the tiles in assembly that this processor can run.
func assemblyTiles() []namedTile {
	return []namedTile{{"neon", tileNEON}}
}
