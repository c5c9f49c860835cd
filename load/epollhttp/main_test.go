package epollhttp

import (
	"io"
	"log"
	"os"
	"testing"
)

// TestMain silences net/http, which logs what servers send unasked.
func TestMain(m *testing.M) {
	log.SetOutput(io.Discard)
	os.Exit(m.Run())
}
