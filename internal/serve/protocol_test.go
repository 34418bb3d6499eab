package serve

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/dptrain/dptrain/dataset"
)

// overHTTP2 returns a client that speaks HTTP/2 without TLS.
func overHTTP2(t *testing.T) *http.Client {
	var protocols http.Protocols
	protocols.SetUnencryptedHTTP2(true)
	transport := &http.Transport{Protocols: &protocols}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport}
}

// TestHTTP2 checks that over HTTP/2 a withheld body gets status 408 and ends only its own stream, that a refusal
// does not end the connection, and that several streams of one connection are answered concurrently.
func TestHTTP2(t *testing.T) {
	s, at := startServer(
		t,
		xModel(),
		dataset.ReadOptions{},
		Limits{Idle: 500 * time.Millisecond, Requests: 3},
	)
	client := overHTTP2(t)
	ask := func(kind string, body io.Reader) (int, string) {
		t.Helper()
		r, err := http.NewRequestWithContext(
			t.Context(),
			http.MethodPost,
			"http://"+at+"/predict",
			body,
		)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Content-Type", kind)
		answer, err := client.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer answer.Body.Close()
		text, err := io.ReadAll(answer.Body)
		if answer.ProtoMajor != 2 || err != nil {
			t.Errorf("%s, %v", answer.Proto, err)
		}
		return answer.StatusCode, string(text)
	}
	for _, kind := range []string{
		"application/json",
		"application/x-ndjson",
		"text/csv",
	} {
		in, out := io.Pipe()
		ended := make(chan string, 1)
		go func() {
			status, body := ask(kind, in)
			ended <- fmt.Sprint(status, body)
		}()
		if status, body := ask("text/plain", strings.NewReader("x")); status != 415 {
			t.Error(status, body)
		}
		status, body := ask(
			"application/x-ndjson",
			strings.NewReader(`{"x":1}`),
		)
		if status != 200 || body != "{\"prediction\":3}\n" {
			t.Error(status, body)
		}
		got := <-ended
		if !strings.HasPrefix(got, "408") {
			t.Errorf("%s: %s", kind, got)
		}
		_ = out.Close()
	}
	n := s.gate.countConns()
	if n != 1 {
		t.Errorf("%d connections", n)
	}
	var open []*io.PipeWriter
	for range 4 {
		in, out := io.Pipe()
		open = append(open, out)
		go func() {
			_, _ = io.WriteString(out, "{\"x\":1}\n")
		}()
		r, err := http.NewRequestWithContext(
			t.Context(),
			http.MethodPost,
			"http://"+at+"/predict",
			in,
		)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Content-Type", "application/x-ndjson")
		answer, err := client.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			_ = answer.Body.Close()
		})
		want := map[bool]int{true: 200, false: 503}[len(open) <= 3]
		if answer.StatusCode != want {
			t.Errorf(
				"stream %d: %s",
				len(open), answer.Status,
			)
		}
	}
	for _, out := range open {
		_ = out.Close()
	}
}

// newCertificate creates a certificate for this computer and its key.
func newCertificate(t *testing.T) (cert, key string, pool *x509.CertPool) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber:          big.NewInt(1),
		IPAddresses:           []net.IP{net.IPv4(127, 0, 0, 1)},
		NotAfter:              time.Now().Add(time.Hour),
		IsCA:                  true,
		BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(
		rand.Reader,
		template,
		template,
		private.Public(),
		private,
	)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	cert = filepath.Join(t.TempDir(), "cert.pem")
	key = filepath.Join(t.TempDir(), "key.pem")
	for path, block := range map[string]*pem.Block{
		cert: {Type: "CERTIFICATE", Bytes: der},
		key:  {Type: "PRIVATE KEY", Bytes: secret},
	} {
		err := os.WriteFile(path, pem.EncodeToMemory(block), 0o600)
		if err != nil {
			t.Fatal(err)
		}
	}
	parsed, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	pool = x509.NewCertPool()
	pool.AddCert(parsed)
	return cert, key, pool
}

// TestTLS checks that both versions of HTTP are answered over HTTPS, even while more connections than the limit
// withhold the handshake.
func TestTLS(t *testing.T) {
	cert, key, pool := newCertificate(t)
	s := newServer(
		t,
		xModel(),
		dataset.ReadOptions{},
		Limits{
			PerClient: 10,
			Header:    time.Hour,
			Idle:      time.Hour,
		},
	)
	at, err := (&net.ListenConfig{}).Listen(
		t.Context(), "tcp",
		"127.0.0.1:0",
	)
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() {
		ended <- s.Serve(ctx, at, cert, key)
	}()
	for range 20 {
		for _, text := range []string{"", "\x16\x03\x01"} {
			c := sendText(t, at.Addr().String(), text)
			t.Cleanup(func() {
				_ = c.Close()
			})
		}
	}
	for _, http2 := range []bool{false, true} {
		transport := &http.Transport{
			TLSClientConfig:   &tls.Config{RootCAs: pool},
			ForceAttemptHTTP2: http2,
		}
		t.Cleanup(transport.CloseIdleConnections)
		for kind, body := range map[string]string{
			"application/json": `{"records":[{"x":1}]}`,
			"text/csv":         "x\n1\n",
		} {
			r, err := (&http.Client{Transport: transport}).Post(
				"https://"+at.Addr().String()+
					"/predict",
				kind,
				strings.NewReader(body),
			)
			if err != nil {
				t.Fatal(err)
			}
			text, err := io.ReadAll(r.Body)
			_ = r.Body.Close()
			if err != nil ||
				r.StatusCode != http.StatusOK ||
				!strings.Contains(string(text), "3") ||
				(r.ProtoMajor == 2) != http2 {
				t.Errorf(
					"%s %s: %q, %v",
					r.Proto, r.Status, text, err,
				)
			}
		}
	}
	n := s.gate.countConns()
	if n > 10 {
		t.Errorf("%d connections", n)
	}
	stop()
	if err := <-ended; err != nil || s.Cut() != 0 {
		t.Error(err, s.Cut())
	}
}
