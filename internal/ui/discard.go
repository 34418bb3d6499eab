package ui

import (
	"io"
	"log"
)

// discard takes what the HTTP server would log, which may quote what clients sent.
var discard = log.New(io.Discard, "", 0)
