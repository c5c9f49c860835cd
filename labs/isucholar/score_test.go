package isucholar

import (
	"testing"
	"time"

	"github.com/kasoku/kasoku/internal/test/turn"
	"github.com/kasoku/kasoku/labs/contest/contesttest"
	"github.com/kasoku/kasoku/labs/isucholar/bench"
	"github.com/kasoku/kasoku/labs/kit"
	"github.com/kasoku/kasoku/sandbox/sandboxtest"
)

// TestScore: the benchmark scores a service that answers well, and finds out each that does not.
func TestScore(t *testing.T) {
	turn.Wait(t)
	s := sandboxtest.MariaDB(t, sandboxtest.Unsafe())
	sandboxtest.Exec(t, sandboxtest.DB(t, s, ""), "CREATE DATABASE isucholar CHARACTER SET utf8mb4")
	if err := fillTables(t.Context(), sandboxtest.DB(t, s, "isucholar"), kit.Set{}); err != nil {
		t.Fatal(err)
	}
	h := newServer(t, s.DSN("root", "isucholar"), kit.Set{})
	contesttest.Run(t, bench.Run, h, 3*time.Second, []contesttest.Case{{Name: "well"}, {
		Name: "wrongly", Spoils: []contesttest.Spoil{
			{Path: "/scores", Old: "110", New: "109", Want: "PUT /api/courses/:id/classes/:id/assignments/scores: 109"},
			{Path: "/export", Old: "PK", New: "KP", Want: "POST /api/courses/:id/classes/:id/assignments/export: zip"},
			{Path: "/grades", Old: `"gpa_max":`, New: `"gpa_max":0,"x":`, Want: "GET /api/users/me/grades"},
			{Path: "/me/courses", Old: `"id":`, New: `"id":-`, Want: "GET /api/users/me/courses: out of order"},
		}}})
}
