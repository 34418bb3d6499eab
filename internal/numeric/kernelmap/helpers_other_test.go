//go:build !amd64 || purego

package kernelmap

func assembled() []tileFunc {
	return nil
}
