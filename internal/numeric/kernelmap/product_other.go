//go:build (!amd64 && !arm64) || purego

package kernelmap

// fastest returns the portable functions: there is no assembly for this build.
func fastest() (tileFunc, kernelFunc, stretchFunc) { return tileGo, kernelGo, stretchGo }
