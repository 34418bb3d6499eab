package serve

import (
	"context"
	"net"
	"net/netip"
	"strconv"
	"sync"
	"sync/atomic"
	"time"
)

// A gate is the listener of a server. It limits the connections of each client and of all clients together. At a
// limit, a new connection replaces the one that has kept the server waiting longest, so clients that withhold
// headers or bodies cannot exclude others. If no connection keeps the server waiting, the new one is refused.
type gate struct {
	net.Listener
	plain          bool // without TLS
	maxConnections int  // total number of connections
	maxPerClient   int  // connections of one client

	mu        sync.Mutex
	conns     map[*clientConn]struct{}
	perClient map[netip.Prefix]int
}

func newGate(l Limits) *gate {
	return &gate{
		maxConnections: l.Connections,
		maxPerClient:   l.PerClient,
		conns:          map[*clientConn]struct{}{},
		perClient:      map[netip.Prefix]int{},
	}
}

func (g *gate) wrapListener(at net.Listener, plain bool) {
	g.Listener = at
	g.plain = plain
}

// Accept implements net.Listener.
func (g *gate) Accept() (net.Conn, error) {
	for {
		raw, err := g.Listener.Accept()
		if err != nil {
			if isTemporary(err) && g.evictConn(func(*clientConn) bool {
				return true
			}) {
				continue // the process has no file descriptor left
			}
			return nil, err
		}
		c := &clientConn{
			Conn:   raw,
			gate:   g,
			client: clientOf(raw.RemoteAddr()),
		}
		c.markActive()
		if g.admitConn(c) {
			return c, nil
		}
		g.refuseConn(raw)
	}
}

// isTemporary reports whether a listener can continue after err.
func isTemporary(err error) bool {
	t, ok := err.(interface{ Temporary() bool })
	return ok && t.Temporary()
}

// clientOf returns the address of a client. For IPv6 it is the /64 network, since a client usually controls all
// addresses in it.
func clientOf(addr net.Addr) netip.Prefix {
	tcp, ok := addr.(*net.TCPAddr)
	if !ok {
		return netip.Prefix{}
	}
	ip := tcp.AddrPort().Addr().Unmap()
	bits := ip.BitLen()
	if ip.Is6() && !ip.IsLoopback() {
		bits = 64
	}
	prefix, _ := ip.WithZone("").Prefix(bits) // bits are in range
	return prefix
}

// admitConn registers a connection, replacing another one if a limit is reached. It returns false if there is no
// connection to replace.
func (g *gate) admitConn(c *clientConn) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.perClient[c.client] >= g.maxPerClient && !g.evictLocked(func(other *clientConn) bool {
		return other.client == c.client
	}) {
		return false
	}
	if len(g.conns) >= g.maxConnections {
		crowd := g.crowdLocked()
		if !g.evictLocked(func(other *clientConn) bool {
			return other.client == crowd
		}) &&
			!g.evictLocked(func(*clientConn) bool {
				return true
			}) {
			return false
		}
	}
	g.conns[c] = struct{}{}
	g.perClient[c.client]++
	return true
}

// crowdLocked returns the client with the most connections. The caller holds the lock.
func (g *gate) crowdLocked() netip.Prefix {
	var crowd netip.Prefix
	most := 0
	for client, n := range g.perClient {
		if n > most {
			crowd = client
			most = n
		}
	}
	return crowd
}

// evictConn closes the connection that has kept the server waiting longest among those accepted by ok. It returns
// false if there is no such connection.
func (g *gate) evictConn(ok func(*clientConn) bool) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.evictLocked(ok)
}

func (g *gate) evictLocked(ok func(*clientConn) bool) bool {
	var victim *clientConn
	now := time.Now()
	for c := range g.conns {
		if ok(c) && c.isStalled(now, 0) &&
			(victim == nil || c.active.Load() < victim.active.Load()) {
			victim = c
		}
	}
	if victim == nil {
		return false
	}
	g.removeLocked(victim)
	_ = victim.Conn.Close()
	return true
}

// closeStalled closes the connections of clients that keep a stopping server waiting.
func (g *gate) closeStalled() {
	g.mu.Lock()
	defer g.mu.Unlock()
	now := time.Now()
	for c := range g.conns {
		if c.isStalled(now, time.Second) {
			g.removeLocked(c)
			_ = c.Conn.Close()
		}
	}
}

func (g *gate) removeLocked(c *clientConn) {
	if _, ok := g.conns[c]; !ok {
		return
	}
	delete(g.conns, c)
	if g.perClient[c.client]--; g.perClient[c.client] == 0 {
		delete(g.perClient, c.client)
	}
}

// countConns returns the number of open connections.
func (g *gate) countConns() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return len(g.conns)
}

const tooManyConnections = `{"error":{"message":"too many connections; try again"}}` + "\n"

// refuseConn answers and closes a connection that was not admitted.
func (g *gate) refuseConn(c net.Conn) {
	if g.plain {
		_ = c.SetWriteDeadline(time.Now().Add(100 * time.Millisecond)) // a failed write is harmless
		_, _ = c.Write(
			[]byte("HTTP/1.1 503 Service Unavailable\r\nContent-Type: application/json\r\nRetry-After: 1\r\nConnection: close\r\n" +
				"Content-Length: " + strconv.Itoa(len(tooManyConnections)) + "\r\n\r\n" +
				tooManyConnections))
	}
	_ = c.Close()
}

// A clientConn is an admitted connection.
type clientConn struct {
	net.Conn
	gate   *gate
	client netip.Prefix

	active  atomic.Int64 // time of the last transferred byte, in nanoseconds since 1970
	working atomic.Int32 // requests that the server is processing without waiting for the client
	streams atomic.Int32 // requests for which some records have been answered
	slots   atomic.Int32 // requests in progress
}

// patienceForStreams is how long a connection with an answer in progress may be silent before a new connection may
// replace it.
const patienceForStreams = 5 * time.Second

// isStalled reports whether the server has been waiting for the client for at least patience.
func (c *clientConn) isStalled(now time.Time, patience time.Duration) bool {
	if c.working.Load() > 0 {
		return false
	}
	if c.streams.Load() > 0 {
		patience = max(patience, patienceForStreams)
	}
	return now.UnixNano()-c.active.Load() >= int64(patience)
}

func (c *clientConn) markActive() {
	c.active.Store(time.Now().UnixNano())
}

// Read implements net.Conn.
func (c *clientConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if n > 0 {
		c.markActive()
	}
	return n, err
}

// Write implements net.Conn.
func (c *clientConn) Write(p []byte) (int, error) {
	n, err := c.Conn.Write(p)
	if n > 0 {
		c.markActive()
	}
	return n, err
}

// Close implements net.Conn.
func (c *clientConn) Close() error {
	c.gate.mu.Lock()
	c.gate.removeLocked(c)
	c.gate.mu.Unlock()
	return c.Conn.Close()
}

// CloseWrite signals the end of the answer to the client.
func (c *clientConn) CloseWrite() error {
	if half, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return nil
}

// connKey is the context key of the connection of a request.
type connKey struct{}

// connOf returns the connection of a request. Without a gate, as in tests of the handler, it returns a connection
// that is never closed.
func connOf(ctx context.Context) *clientConn {
	if c, ok := ctx.Value(connKey{}).(*clientConn); ok {
		return c
	}
	return &clientConn{}
}
