package serve

import (
	"runtime"
	"sync/atomic"
	"time"
)

// Limits of a server. Zero values select the defaults.
type Limits struct {
	Body        int64         // bytes of a JSON body; default 8 MiB
	Line        int           // bytes of a line, or of a record of a JSON body; default 1 MiB
	Buffered    int64         // bytes of all bodies in memory; default 128 MiB
	Requests    int           // concurrent requests; default 256
	Connections int           // total; default 1024, or fewer if the process may not open that many files
	PerClient   int           // connections from one address; default 256
	Header      time.Duration // for the header of a request; default 5 s
	Idle        time.Duration // for the next record of a body, or for a client to accept an answer; default 30 s
	KeepAlive   time.Duration // between two requests of a connection; default 60 s
	Drain       time.Duration // for requests in progress when the server ends; default 10 s
}

// Defaults returns the default limits.
func Defaults() Limits {
	return Limits{}.withDefaults()
}

func (l Limits) withDefaults() Limits {
	setDefault(&l.Body, 8<<20)
	setDefault(&l.Line, 1<<20)
	setDefault(&l.Buffered, 128<<20)
	setDefault(&l.Requests, 256)
	setDefault(&l.Connections, 1024)
	setDefault(&l.PerClient, 256)
	setDefault(&l.Header, 5*time.Second)
	setDefault(&l.Idle, 30*time.Second)
	setDefault(&l.KeepAlive, time.Minute)
	setDefault(&l.Drain, 10*time.Second)
	l.Connections = min(l.Connections, mostConnections())
	l.PerClient = min(l.PerClient, l.Connections)
	return l
}

func setDefault[T int | int64 | time.Duration](field *T, value T) {
	if *field == 0 {
		*field = value
	}
}

// filesOfServer is the number of files reserved for uses other than connections.
const filesOfServer = 32

// mostConnections returns the maximum number of concurrent connections of the process.
func mostConnections() int {
	return max(1, openFiles()-filesOfServer)
}

// parallelTurns returns the number of requests that compute concurrently, and longTurns how many may process a long
// record at the same time. A record takes several times its size while it is read, and the header of a wide table
// even more.
func parallelTurns() int {
	return max(2, runtime.GOMAXPROCS(0))
}

func longTurns() int {
	return 1 + runtime.GOMAXPROCS(0)/4
}

// longRecord is the minimum size of a long record in bytes.
const longRecord = 1 << 16

// memory is the budget in bytes for bodies.
type memory struct {
	free atomic.Int64
}

// reserveBytes reserves n bytes. It returns false, and reserves no memory, if fewer are free.
func (m *memory) reserveBytes(n int64) bool {
	for {
		free := m.free.Load()
		if free < n {
			return false
		}
		if m.free.CompareAndSwap(free, free-n) {
			return true
		}
	}
}

// releaseBytes returns bytes reserved by reserveBytes.
func (m *memory) releaseBytes(n int64) {
	m.free.Add(n)
}
