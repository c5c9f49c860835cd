package main

import (
	"context"
	"database/sql"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/kasoku/kasoku/cmd/kasoku/internal/cli"
	"github.com/kasoku/kasoku/config"
	"github.com/kasoku/kasoku/sandbox/sandboxtest"
)

// rights gives the recorder's user all rights, or takes all but the connection and ends
// its sessions: they keep what they began with.
func (f *target) rights(all bool) {
	f.Helper()
	for _, host := range []string{"'%'", "localhost"} {
		if all {
			sandboxtest.Exec(f, f.db, "GRANT ALL ON *.* TO kasoku@"+host)
		} else {
			sandboxtest.Exec(f, f.db, "REVOKE ALL PRIVILEGES, GRANT OPTION FROM kasoku@"+host)
		}
	}
	if all {
		return
	}
	rows, err := f.db.QueryContext(f.Context(), "SELECT ID FROM information_schema.PROCESSLIST WHERE USER = 'kasoku'")
	if err != nil {
		f.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var id uint64
		if err := rows.Scan(&id); err != nil {
			f.Fatal(err)
		}
		_, _ = f.db.ExecContext(f.Context(), fmt.Sprintf("KILL %d", id)) // it may have ended
	}
	if err := rows.Err(); err != nil {
		f.Fatal(err)
	}
}

// says fails when a text is not in what the process said.
func (r *running) says(texts ...string) {
	r.t.Helper()
	said := strings.Join(strings.Fields(r.said()), " ") // lines are broken
	for _, text := range texts {
		if !strings.Contains(said, text) {
			r.t.Errorf("%q is not in\n%s", text, r.said())
		}
	}
}

// until begins a recording whose command ends when the file "end" is there.
func (f *target) until(dir string) *running {
	f.Helper()
	r := startIn(f.T, dir, "record", "--mysql", f.dsn, "--out", "run.kasoku", "--interval", "100ms", "--no-plans", "--", "sh", "-c",
		"echo begun; while ! test -e end; do sleep 0.05; done")
	r.begun()
	return r
}

func (r *running) begun() {
	r.t.Helper()
	r.waitFor("command", func() bool { return strings.Contains(r.said(), "begun\n") })
}

func (r *running) end() {
	r.t.Helper()
	if err := os.WriteFile(filepath.Join(r.dir, "end"), nil, 0o600); err != nil {
		r.t.Fatal(err)
	}
	select {
	case <-r.ended:
	case <-r.t.Context().Done():
	}
}

// TestLeft: what a recording leaves on a server when it cannot put all back, or is not
// alone, is said as it is.
func TestLeft(t *testing.T) {
	onTargets(t, func(f target) {
		for _, part := range []func(*target){leftRevoked, leftApart, leftSessions, leftBroken, leftForeign} {
			f.unusual()
			part(&f)
			sandboxtest.Exec(f, f.db, "SET GLOBAL slow_query_log = OFF")
		}
	})
}

// leftRevoked: a server that refuses to have its values put back: record and run
// end with 3, say what the values are and who goes on trying; the guard puts them back
// as soon as it may.
func leftRevoked(f *target) {
	toml := fmt.Sprintf("[mysql]\ndsn = '%s'\nplans = false\n[load]\ncommand = ['sh', '-c', 'echo begun; while ! test -e end; do sleep 0.05; done']\n", f.dsn)
	for _, command := range []string{"record", "run"} {
		dir := f.TempDir()
		var r *running
		if command == "record" {
			r = f.until(dir)
		} else {
			if err := os.WriteFile(filepath.Join(dir, "kasoku.toml"), []byte(toml), 0o600); err != nil {
				f.Fatal(err)
			}
			r = startIn(f.T, dir, "run")
			r.begun()
		}
		guard := r.guards()[0]
		f.rights(false)
		r.end()
		if code, err := exitStatus(r.err); code != cli.ExitCouldNot || err != nil {
			f.Errorf("%s: exit %d, %v\n%s", command, code, err, r.said())
		}
		r.says("slow_query_log is ON, it was OFF", "long_query_time is 0.000000, it was 3.250000",
			fmt.Sprintf("the guard process (pid %d) tries again for 1m0s", guard), "kasoku restore")
		if out := r.restoring(cli.ExitCouldNot, "--mysql", f.dsn); !strings.Contains(out, "slow_query_log is ON, it was OFF") {
			f.Errorf("restore: %s", out)
		}
		f.rights(true)
		r.gone()
		f.unchanged("after " + command)
		if out := r.restoring(cli.ExitGood); out != "nothing is to be put back\n" {
			f.Errorf("restore: %s", out)
		}
	}
}

// leftForeign: what somebody else has set meanwhile is left, and said; a server
// that was restarted has its own values again, one that is away is not guessed at.
func leftForeign(f *target) {
	r := f.until(f.TempDir())
	sandboxtest.Exec(f, f.db, "SET GLOBAL long_query_time = 0.75")
	r.end()
	r.exits(cli.ExitGood, "")
	r.says(`long_query_time was changed by somebody else meanwhile; left alone: somebody has set it to "0.750000"`)
	sandboxtest.Exec(f, f.db, "SET GLOBAL long_query_time = 3.25")
	f.unchanged("but for the foreign value")

	r = f.until(f.TempDir())
	if err := f.s.Kill(); err != nil {
		f.Fatal(err)
	}
	if err := f.s.Restart(f.Context()); err != nil {
		f.Fatal(err)
	}
	f.was = f.values()
	r.end()
	r.exits(cli.ExitGood, "")
	r.says("the server was restarted meanwhile: it has its own values again")
	f.unchanged("restarted")

	r = f.until(f.TempDir())
	if err := f.s.Kill(); err != nil {
		f.Fatal(err)
	}
	r.end()
	if code, err := exitStatus(r.err); code != cli.ExitCouldNot || err != nil {
		f.Errorf("stopped: exit %d, %v", code, err)
	}
	r.says("the server does not answer, so what the values are now is not known", "the guard process (pid ")
	if err := f.s.Restart(f.Context()); err != nil {
		f.Fatal(err)
	}
	r.gone()
	f.unchanged("stopped and started")
	if out := r.restoring(cli.ExitGood); out != "nothing is to be put back\n" {
		f.Errorf("restore: %s", out)
	}
}

// leftApart: of two recorders with different state directories the second changes
// nothing and says who was there before, whoever ends first, and when the first is
// killed with -9.
func leftApart(f *target) {
	for _, order := range []string{"first", "second", "killed"} {
		a := f.until(f.TempDir())
		b := f.until(f.TempDir())
		first, second := a, b
		if order == "second" {
			first, second = b, a
		}
		if order == "killed" {
			first.signal(syscall.SIGKILL)
			<-first.ended
		} else {
			first.end()
			first.exits(cli.ExitGood, "")
		}
		if order == "second" && f.values()["slow_query_log"] != "ON" {
			f.Error("the second has put back what the first needs")
		}
		second.end()
		second.exits(cli.ExitGood, "")
		b.says("no slow log: ", " with journals of its own changes this server's settings: connection ", "(kasoku@")
		a.gone()
		f.unchanged(order)
	}
}

// sessionsLog records until a session of an application has begun that goes on logging, and
// returns the application's connection.
func (f *target) sessionsLog() (r *running, app *sql.DB, id uint64) {
	f.Helper()
	sandboxtest.Exec(f, f.db, "SET GLOBAL slow_query_log = ON", "SET GLOBAL log_output = 'FILE'")
	f.was = f.values()
	r = startIn(f.T, f.TempDir(), "record", "--slowlog", "--mysql", f.dsn, "--out", "run.kasoku", "--no-plans", "--", "sh", "-c",
		"echo begun; while ! test -e end; do sleep 0.05; done")
	r.begun()
	app = sandboxtest.DB(f, f.s, "")
	app.SetMaxOpenConns(1)
	if err := app.QueryRowContext(f.Context(), "SELECT CONNECTION_ID()").Scan(&id); err != nil {
		f.Fatal(err)
	}
	r.end()
	r.exits(cli.ExitCouldNot, "")
	f.unchanged("but for sessions")
	return r, app, id
}

// reconnects writes a kasoku.toml by which the drivers do so and the application answers with
// what ask returns.
func (f *target) reconnects(dir string, ask func(ctx context.Context) error) {
	f.Helper()
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := ask(r.Context()); err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
		}
	}))
	f.Cleanup(web.Close)
	text := fmt.Sprintf("[mysql]\ndsn = %q\nreconnects = true\n[service]\nurl = %q\n", f.dsn, web.URL)
	if err := os.WriteFile(filepath.Join(dir, config.Name), []byte(text), 0o600); err != nil {
		f.Fatal(err)
	}
}

// leftSessions: restore names the sessions that go on logging, and ends them when
// that is wanted, and known to harm no application.
func leftSessions(f *target) {
	r, app, id := f.sessionsLog()
	named := fmt.Sprintf("%d (root@", id)
	r.says("slow_query_log is ON, so each statement is logged until the session ends", named, fmt.Sprintf("KILL %d;", id))
	if out := r.restoring(cli.ExitGood, "--list"); !strings.Contains(out, "sessions that began during a recording") {
		f.Errorf("the list: %s", out)
	}
	if out := r.restoring(cli.ExitCouldNot, "--mysql", f.dsn); !strings.Contains(out, named) ||
		!strings.Contains(out, fmt.Sprintf("hint: KILL %d;", id)) {
		f.Errorf("restore: %s", out)
	}
	if out := r.restoring(cli.ExitCouldNot, "--mysql", f.dsn, "--recycle-connections"); !strings.Contains(out, named) ||
		!strings.Contains(out, "connections are not recycled: whether the application's driver reconnects is not known") {
		f.Errorf("restore: %s", out)
	}
	f.reconnects(r.dir, app.PingContext)
	if out := r.restoring(cli.ExitGood, "--mysql", f.dsn, "--recycle-connections"); !strings.Contains(out, "ended 1 idle session") {
		f.Errorf("restore: %s", out)
	}
	if out := r.restoring(cli.ExitGood); out != "nothing is to be put back\n" {
		f.Errorf("restore: %s", out)
	}
}

// leftBroken: an application that does not connect anew after all is said to be broken.
func leftBroken(f *target) {
	r, app, _ := f.sessionsLog()
	conn, err := app.Conn(f.Context())
	if err != nil {
		f.Fatal(err)
	}
	defer conn.Close()
	f.reconnects(r.dir, conn.PingContext)
	if out := r.restoring(cli.ExitBad, "--mysql", f.dsn, "--recycle-connections"); !strings.Contains(out, "ended 1 idle session") ||
		!strings.Contains(out, "the application does not answer since its idle connections were ended (1): GET http") ||
		!strings.Contains(out, "restart the application") {
		f.Errorf("restore: %s", out)
	}
	if out := r.restoring(cli.ExitGood); out != "nothing is to be put back\n" {
		f.Errorf("restore: %s", out)
	}
}
