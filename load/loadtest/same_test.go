package loadtest_test

import (
	"io"
	"log"
	"os"
	"testing"

	"github.com/kasoku/kasoku/internal/test/turn"
	"github.com/kasoku/kasoku/load"
	"github.com/kasoku/kasoku/load/engine"
	"github.com/kasoku/kasoku/load/loadtest"
	"github.com/kasoku/kasoku/load/nethttp"
)

// TestMain silences net/http, which logs what hostile servers send.
func TestMain(m *testing.M) {
	log.SetOutput(io.Discard)
	os.Exit(m.Run())
}

func named(name string) func(testing.TB, loadtest.Options) load.Engine {
	return func(t testing.TB, o loadtest.Options) load.Engine {
		t.Helper()
		e, _, err := engine.New(engine.Options{Engine: name, Shards: min(o.MaxInFlight, 2), HTTP: nethttp.Options{
			Timeout: o.Timeout, MaxInFlight: o.MaxInFlight, NoKeepAlive: o.NoKeepAlive,
			Chunked: o.Chunked, MaxBody: o.MaxBody, Redirects: o.Redirects,
		}}, load.Plan{Targets: []load.Target{{Method: "GET", URL: "http://127.0.0.1/"}}})
		if err != nil {
			t.Fatal(err)
		}
		return e
	}
}

// TestEnginesAreTheSame proves that the fast engine makes the same of a hostile
// server as net/http.
func TestEnginesAreTheSame(t *testing.T) {
	turn.Wait(t)
	loadtest.Same(t, named(engine.NetHTTP), named(engine.EpollHTTP))
}

// TestEngineIsTheSameAsItself proves that what the suite compares does not depend
// on chance.
func TestEngineIsTheSameAsItself(t *testing.T) {
	turn.Wait(t)
	if testing.Short() {
		t.Skip("of the suite itself")
	}
	loadtest.Same(t, named(engine.NetHTTP), named(engine.NetHTTP))
}
