//go:build !purego

package kernelmap

// fastestFunctions returns the functions for every processor of this architecture. Go's own instructions for floats stretch.
func fastestFunctions() (tileFunc, kernelFunc, stretchFunc) {
	return tileSIMD, kernelSIMD, stretchGo
}
