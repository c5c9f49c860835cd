package isuportal

import (
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/kasoku/kasoku/internal/test/turn"
	"github.com/kasoku/kasoku/labs/contest/contesttest"
	"github.com/kasoku/kasoku/labs/isuportal/bench"
	"github.com/kasoku/kasoku/labs/kit"
	"github.com/kasoku/kasoku/sandbox"
	"github.com/kasoku/kasoku/sandbox/sandboxtest"
)

// newService returns portal and queue server as one, as nginx shows them, with so many connections each,
// 0: as they have them, and teams.
func newService(t *testing.T, dsn string, d kit.Set, pool, teams int) http.Handler {
	t.Helper()
	c := kit.Config{DSN: dsn, Defects: d, Pool: pool, Log: io.Discard}
	one := func() *server {
		srv, err := open(c)
		if err != nil {
			t.Fatal(err)
		}
		srv.capacity = teams
		t.Cleanup(func() {
			srv.push.close()
			_ = srv.db.Close()
		})
		return srv
	}
	portal, jobs := one().portal(), (&queue{one()}).routes()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case strings.HasPrefix(r.URL.Path, "/xsuportal."):
			jobs.ServeHTTP(w, r)
		case r.URL.Path == "/": // nginx sends it
		default:
			portal.ServeHTTP(w, r)
		}
	})
}

// TestScore: the benchmark scores each variant of the ladder on both servers.
func TestScore(t *testing.T) {
	sandboxtest.Both(t, sandboxtest.Unsafe(), func(t *testing.T, s *sandbox.Server) {
		var names []string
		for _, v := range ladder(Lab()) {
			names = append(names, v.Name)
		}
		sandboxtest.AtOnce(t, names, func(t *testing.T, i int) {
			turn.Wait(t)
			v := ladder(Lab())[i]
			sandboxtest.Exec(t, sandboxtest.DB(t, s, ""), "CREATE DATABASE "+v.Name+" CHARACTER SET utf8mb4")
			contesttest.Run(t, bench.Run, newService(t, s.DSN("root", v.Name), v.Defects, v.Pool, fewTeams), 5*time.Second,
				[]contesttest.Case{{Name: "well"}})
		})
	})
}

// fewTeams register within what a short run has for that, whatever else the host does.
const fewTeams = 20
