//go:build !amd64 || purego

package lanes

func groups(int) int { return 0 }
