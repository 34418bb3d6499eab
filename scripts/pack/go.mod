module github.com/dptrain/dptrain/scripts/pack

go 1.26.0

require (
	aead.dev/minisign v0.3.0
	github.com/google/licensecheck v0.3.1
	golang.org/x/mod v0.36.0
)

require (
	golang.org/x/crypto v0.43.0 // indirect
	golang.org/x/sys v0.50.0 // indirect
)
