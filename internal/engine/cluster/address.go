package cluster

import (
	"net"
	"net/netip"
	"os"
	"strings"

	"github.com/dptrain/dptrain/internal/sys/fault"
)

// An Address is the address of a Spark Connect server, with the parameters of the connection.
type Address struct {
	host  string // with its port
	tls   bool
	token string
}

// defaultPort is the default port of Spark Connect.
const defaultPort = "15002"

// ParseAddress parses an address of the form sc://HOST:PORT/;use_ssl=true;token=env:NAME. An address on another machine
// needs both parameters, because exact sums and the keys of coins are sent over the network. ParseAddress reads the token
// from the given environment variable or file.
func ParseAddress(text string) (Address, error) {
	rest, ok := strings.CutPrefix(text, "sc://")
	place, parameters, _ := strings.Cut(rest, "/")
	if !ok || place == "" || parameters != "" && !strings.HasPrefix(parameters, ";") {
		return Address{}, usageError(
			"the address is not of the form sc://HOST:PORT",
			"--connect sc://127.0.0.1:15002, or sc://spark.example:15002/;use_ssl=true;token=env:NAME",
		)
	}
	host, port, err := net.SplitHostPort(place)
	if err != nil {
		host = strings.Trim(place, "[]")
		port = defaultPort
	}
	a := Address{host: net.JoinHostPort(host, port)}
	for _, p := range strings.Split(strings.TrimPrefix(parameters, ";"), ";") {
		name, value, _ := strings.Cut(p, "=")
		switch {
		case p == "":
		case name == "use_ssl" && (value == "true" || value == "false"):
			a.tls = value == "true"
		case name == "token":
			if a.token, err = readToken(value); err != nil {
				return Address{}, err
			}
		default:
			return Address{}, usageError(
				"the address has a parameter other than use_ssl=true and token=env:NAME",
				"leave it out",
			)
		}
	}
	if !isLoopback(host) && (!a.tls || a.token == "") {
		return Address{}, usageError(
			"the address is on another machine, and exact sums would be sent without TLS and a token",
			"add /;use_ssl=true;token=env:NAME",
		)
	}
	if a.token != "" && !a.tls {
		return Address{}, usageError(
			"the token would be sent without TLS",
			"add ;use_ssl=true, or omit the token",
		)
	}
	return a, nil
}

// readToken reads a token from an environment variable or from a file.
func readToken(from string) (string, error) {
	hint := "token=env:NAME or token=file:PATH"
	kind, name, _ := strings.Cut(from, ":")
	var token string
	switch kind {
	case "env":
		token = os.Getenv(name)
	case "file":
		data, err := os.ReadFile(name)
		if err != nil {
			return "", usageError("the file of the token cannot be read", hint)
		}
		token = strings.TrimSpace(string(data))
	default:
		return "", usageError("do not put a token into the address, which others can see", hint)
	}
	if token == "" {
		return "", usageError("the token is empty", hint)
	}
	return token, nil
}

// isLoopback reports whether a host is this machine. It does not ask a name server.
func isLoopback(host string) bool {
	if host == "localhost" {
		return true
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.IsLoopback()
}

// usageError returns an error of the command line.
func usageError(message, hint string) error {
	return &fault.Error{
		Kind:    fault.Usage,
		Message: message,
		Hint:    hint,
	}
}
