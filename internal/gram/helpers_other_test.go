//go:build !amd64 || purego

package gram

func assembly() bool { return false }
