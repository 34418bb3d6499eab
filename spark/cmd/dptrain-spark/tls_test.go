package main

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
)

// newAuthority creates a CA certificate, and a certificate for a name that it signs.
func newAuthority(t *testing.T, name string) (ca []byte, server tls.Certificate) {
	t.Helper()
	issue := func(
		c, by *x509.Certificate, signer *ecdsa.PrivateKey,
	) (*x509.Certificate, *ecdsa.PrivateKey, []byte) {
		key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
		if err != nil {
			t.Fatal(err)
		}
		c.SerialNumber = big.NewInt(1)
		c.NotBefore = time.Now().Add(-time.Hour)
		c.NotAfter = time.Now().Add(time.Hour)
		if by == nil {
			by = c
			signer = key
		}
		der, err := x509.CreateCertificate(rand.Reader, c, by, &key.PublicKey, signer)
		if err != nil {
			t.Fatal(err)
		}
		return c, key, der
	}
	root, rootKey, rootDER := issue(
		&x509.Certificate{
			Subject:               pkix.Name{CommonName: "authority of a test"},
			IsCA:                  true,
			BasicConstraintsValid: true,
			KeyUsage:              x509.KeyUsageCertSign,
		},
		nil,
		nil,
	)
	_, key, der := issue(
		&x509.Certificate{
			Subject:     pkix.Name{CommonName: name},
			DNSNames:    []string{name},
			ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		},
		root,
		rootKey,
	)
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: rootDER}),
		tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
}

// serveTLS runs a server behind TLS that requires a token in every call, like a proxy before Connect.
func serveTLS(t *testing.T, s *server, certificate tls.Certificate, token string) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	guard := func(
		srv any, stream grpc.ServerStream, _ *grpc.StreamServerInfo, next grpc.StreamHandler,
	) error {
		head, _ := metadata.FromIncomingContext(stream.Context())
		got := head.Get("authorization")
		if len(got) != 1 || got[0] != "Bearer "+token {
			return status.Error(codes.Unauthenticated, "4711")
		}
		return next(srv, stream)
	}
	g := grpc.NewServer(
		grpc.Creds(credentials.NewServerTLSFromCert(&certificate)),
		grpc.StreamInterceptor(guard),
		grpc.ForceServerCodec(raw{}),
		grpc.UnknownServiceHandler(s.handleCall),
	)
	ended := make(chan error, 1)
	go func() {
		ended <- g.Serve(l)
	}()
	t.Cleanup(func() {
		g.Stop()
		<-ended
	})
	_, port, err := net.SplitHostPort(l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	return "localhost:" + port
}

// TestTLS checks that a server is trusted over TLS only if an authority known to this machine certifies its
// name. The token is part of every call, and is sent only after that check.
func TestTLS(t *testing.T) {
	if runtime.GOOS == "windows" || runtime.GOOS == "darwin" {
		t.Skip("the authorities of the system are not those of a file there")
	}
	const token = "token4711"
	ca, good := newAuthority(t, "localhost")
	path := filepath.Join(t.TempDir(), "authority.pem")
	if err := os.WriteFile(path, ca, 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("SSL_CERT_FILE", path) // read once in a process: no other test speaks TLS
	_, unknown := newAuthority(t, "localhost")
	for _, tt := range []struct {
		name        string
		certificate tls.Certificate
		tls         bool
		token       string
		host, word  string
	}{
		{"good", good, true, token, "localhost", ""},
		{"another token", good, true, "other", "localhost", "token"},
		{"no token", good, true, "", "localhost", "token"},
		{"unknown authority", unknown, true, token, "localhost", "connect"},
		{
			"another name", good, true, token,
			"127.0.0.1", "connect",
		},
		{"no TLS", good, false, "", "localhost", "connect"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := &server{files: map[string][]byte{}}
			address := serveTLS(t, s, tt.certificate, token)
			head, program := questionLine(
				t,
				strings.Replace(address, "localhost", tt.host, 1),
			)
			var q question
			if err := json.Unmarshal([]byte(head), &q); err != nil {
				t.Fatal(err)
			}
			q.TLS = tt.tls
			q.Token = tt.token
			text, err := json.Marshal(q)
			if err != nil {
				t.Fatal(err)
			}
			want := encodeList(t) + encodeList(t, "ONE")
			got, err := converse(
				t,
				string(text)+"\n"+tasksRequest(t, "one"),
				len(want),
			)
			if tt.word == "" {
				if err != nil ||
					got != want ||
					!bytes.Equal(s.files["files/dptrain-01"], program) {
					t.Errorf("%q: %v", got, err)
				}
				return
			}
			if err == nil ||
				err.Error() != tt.word ||
				got != "" ||
				len(s.files) > 0 ||
				len(s.calls) > 0 {
				t.Errorf(
					"%q, %d files, calls %s: %v, want %s",
					got,
					len(s.files),
					s.calls,
					err,
					tt.word,
				)
			}
		})
	}
}
