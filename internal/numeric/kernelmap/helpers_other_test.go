//go:build !amd64 || purego

package kernelmap

func assemblyTiles() []tileFunc {
	return nil
}
