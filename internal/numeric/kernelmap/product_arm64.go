//go:build !purego

package kernelmap

// fastest returns the functions for every processor of this architecture. Go's own instructions for floats stretch.
func fastest() (tileFunc, kernelFunc, stretchFunc) { return tileSIMD, kernelSIMD, stretchGo }
