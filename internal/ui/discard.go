package ui

import (
	"io"
	"log"
)

// discard drops the log of the HTTP server, which may quote text from clients.
var discard = log.New(io.Discard, "", 0)
