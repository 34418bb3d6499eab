//go:build !amd64 || purego

package gram

func assembled() []namedTile { return nil }
