//go:build !unix

package ledger

// fileID returns "": on this system tables are identified by path only.
func fileID(string) string {
	return ""
}
