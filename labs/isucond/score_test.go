package isucond

import (
	"testing"
	"time"

	"github.com/kasoku/kasoku/internal/test/turn"
	"github.com/kasoku/kasoku/labs/contest/contesttest"
	"github.com/kasoku/kasoku/labs/isucond/bench"
	"github.com/kasoku/kasoku/labs/kit"
	"github.com/kasoku/kasoku/sandbox/sandboxtest"
)

// TestScore: the benchmark scores a service that answers well, and finds out each that does not.
func TestScore(t *testing.T) {
	turn.Wait(t)
	s := sandboxtest.MariaDB(t, sandboxtest.Unsafe())
	sandboxtest.Exec(t, sandboxtest.DB(t, s, ""), "CREATE DATABASE isucond CHARACTER SET utf8mb4")
	h := newServer(t, s.DSN("root", "isucond"), kit.Set{"NGX-06"}).routes() // without nginx there are no files
	contesttest.Run(t, bench.Run, h, 1500*time.Millisecond, []contesttest.Case{
		{Name: "well"},
		{Name: "an old trend", Spoils: []contesttest.Spoil{
			{Path: "/api/trend", Old: `"reports":`, New: `"reports":-`, Want: "stale GET /api/trend: more than 1s old"},
		}},
		{Name: "another message", Spoils: []contesttest.Spoil{
			{Path: "/api/condition/", Old: "felt", New: "fell", Want: "wrong answer GET /api/condition/:id: a condition that"},
		}},
		{Name: "another state", Spoils: []contesttest.Spoil{
			{Path: "/graph", Old: "is_dirty=true", New: "is_dirty=false",
				Want: "wrong answer GET /api/isu/:id/graph: a condition that"},
		}},
	})
}
