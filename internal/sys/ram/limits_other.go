//go:build !linux

package ram

// limits returns nil: other systems do not enforce the limits that they report.
func limits() []Limit {
	return nil
}
