//go:build (!amd64 && !arm64) || purego

package kernelmap

// fastestFunctions returns the portable functions: there is no assembly for this build.
func fastestFunctions() (tileFunc, kernelFunc, stretchFunc) {
	return tileGo, kernelGo, stretchGo
}
