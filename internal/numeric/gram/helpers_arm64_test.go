//go:build !purego

package gram

// assembled lists the tiles in assembly that this processor can run.
func assembled() []namedTile {
	return []namedTile{{"neon", tileNEON}}
}
