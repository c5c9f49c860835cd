package recycle

import (
	"context"
	"database/sql"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/internal/test/turn"
	"github.com/kasoku/kasoku/load"
	"github.com/kasoku/kasoku/mysql"
	"github.com/kasoku/kasoku/sandbox"
	"github.com/kasoku/kasoku/sandbox/sandboxtest"
)

// TestRun: a pool answers on; a client with one raw connection that it never opens anew is
// found out, and not touched where nothing is known of it or it cannot be asked.
func TestRun(t *testing.T) {
	turn.Wait(t)
	s := sandboxtest.MariaDB(t, sandbox.Options{Args: []string{"--skip-log-bin"}})
	r, err := mysql.New(t.Context(), sandboxtest.DB(t, s, ""))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	db := sandboxtest.DB(t, s, "")
	conn, err := db.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	ask := func(c interface {
		ExecContext(context.Context, string, ...any) (sql.Result, error)
	}) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			if _, err := c.ExecContext(r.Context(), "DO 1"); err != nil {
				http.Error(w, err.Error(), http.StatusInternalServerError)
			}
		}
	}
	raw, pool := httptest.NewServer(ask(conn)), httptest.NewServer(ask(db))
	defer raw.Close()
	defer pool.Close()
	lost := httptest.NewServer(http.NotFoundHandler())
	defer lost.Close()
	o := Options{Reader: r, Within: time.Second, URL: raw.URL}
	targets := []load.Target{{Method: "POST", URL: raw.URL}, {Method: "GET", URL: lost.URL}}
	unasked := Options{Reader: r, Confirmed: true}
	missed := Options{Reader: r, Confirmed: true, Targets: targets, URL: raw.URL}
	for _, refused := range []Options{o, unasked, missed} {
		if got, err := Run(t.Context(), refused); !errors.As(err, new(*RefusedError)) || got.Ended != 0 {
			t.Errorf("%+v, %v; want a refusal", got, err)
		}
	}
	if _, err := conn.ExecContext(t.Context(), "DO 1"); err != nil {
		t.Fatalf("refused, and yet ended: %v", err)
	}
	o.Confirmed = true
	got, err := Run(t.Context(), o)
	var broken *BrokenError
	if !errors.As(err, &broken) || broken.Ended != got.Ended || got.Ended == 0 || broken.Last != "status 500" ||
		!strings.Contains(broken.Hint(), "restart the application") {
		t.Errorf("%+v, %v; want the application broken", got, err)
	}
	if err := db.PingContext(t.Context()); err != nil {
		t.Fatal(err)
	}
	o.URL = pool.URL
	if got, err := Run(t.Context(), o); err != nil || got.Ended == 0 {
		t.Errorf("a pool: %+v, %v", got, err)
	}
}

func TestRefused(t *testing.T) {
	member := func(role kasoku.MemberRole, language, framework string) kasoku.Member {
		return kasoku.Member{Role: role, Language: language, Framework: framework, Program: "app", Sure: kasoku.High}
	}
	db, shared := member(kasoku.RoleDatabase, "", ""), member(kasoku.RoleDatabase, "", "")
	shared.Others = 2
	gopher := member(kasoku.RoleApplication, "go", "")
	for _, c := range []struct {
		members []kasoku.Member
		want    string
	}{
		{nil, "which programs use the database is not known"},
		{[]kasoku.Member{db}, "which program the application is"},
		{[]kasoku.Member{db, gopher}, ""},
		{[]kasoku.Member{db, member(kasoku.RoleApplication, "php", "php-fpm")}, ""},
		{[]kasoku.Member{db, member(kasoku.RoleApplication, "php", "")}, "a program that stays"},
		{[]kasoku.Member{db, gopher, member(kasoku.RoleApplication, "ruby", "puma")}, "that is to reconnect"},
		{[]kasoku.Member{db, member(kasoku.RoleApplication, "python", "gunicorn")}, "asked before its use"},
		{[]kasoku.Member{db, member(kasoku.RoleApplication, "", "")}, "its language is not known"},
		{[]kasoku.Member{shared, gopher}, "programs outside of the service"},
		{[]kasoku.Member{db, gopher, member(kasoku.RolePooler, "", "")}, "a pooler"},
	} {
		got := Refused(&kasoku.Service{Members: c.members})
		if (got == "") != (c.want == "") || !strings.Contains(got, c.want) {
			t.Errorf("%+v: %q, want %q", c.members, got, c.want)
		}
	}
}
