package record

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/diagnose/recycle"
	"github.com/kasoku/kasoku/internal/test/turn"
	"github.com/kasoku/kasoku/sandbox"
	"github.com/kasoku/kasoku/sandbox/sandboxtest"
)

// A logged is a server whose slow log is on and holds slow statements only.
type logged struct {
	*testing.T
	s   *sandbox.Server
	db  *sql.DB
	log string
}

// TestSlowLogOnBefore: where the slow log is on before a run, what the run does ends
// with it, or is said and mended.
func TestSlowLogOnBefore(t *testing.T) {
	turn.Wait(t)
	t.Parallel()
	sandboxtest.Each(t, sandbox.Options{Args: []string{"--skip-log-bin", "--performance-schema=ON"}}, func(t *testing.T, s *sandbox.Server) {
		t.Parallel()
		db := sandboxtest.DB(t, s, "")
		sandboxtest.Exec(t, db, "CREATE DATABASE shop", "CREATE TABLE shop.items (id INT PRIMARY KEY AUTO_INCREMENT, name VARCHAR(99))",
			"SET GLOBAL long_query_time = 5", "SET GLOBAL slow_query_log = ON")
		vars := globals(t, db)
		l := logged{t, s, db, vars["slow_query_log_file"]}
		if !filepath.IsAbs(l.log) {
			l.log = filepath.Join(vars["datadir"], l.log)
		}
		for _, part := range []struct {
			name string
			test func(logged)
		}{
			{"digests", digestsInstead}, {"anyway", logAnyway}, {"recycled", recycledAfter}, {"broken", brokenBefore}, {"relaxed", relaxedMeanwhile},
			{"two", twoRecorders}, {"off before", offBefore},
		} {
			t.Run(part.name, func(t *testing.T) {
				l := l
				l.T = t
				before := globals(t, db)
				part.test(l)
				unchanged(t, db, before)
			})
		}
	})
}

// session opens one of an application's that stays open.
func (l logged) session() (db *sql.DB, id uint64) {
	l.Helper()
	db = pool(l.T, l.s)
	if err := db.QueryRowContext(l.Context(), "SELECT CONNECTION_ID()").Scan(&id); err != nil {
		l.Fatal(err)
	}
	return db, id
}

// look sends look-ups, and returns how many bytes the slow log has gained.
func (l logged) look(db *sql.DB, n int) int64 {
	l.Helper()
	before, err := os.Stat(l.log)
	if err != nil {
		l.Fatal(err)
	}
	for i := range n {
		if _, err := db.ExecContext(l.Context(), fmt.Sprintf("SELECT name FROM items WHERE id = %d", i)); err != nil {
			l.Fatal(err)
		}
	}
	after, err := os.Stat(l.log)
	if err != nil {
		l.Fatal(err)
	}
	return after.Size() - before.Size()
}

// record makes a run during which an application opens a session and uses it.
func (l logged) record(change func(o *Options)) (rec *kasoku.Recording, app *sql.DB, id uint64) {
	l.Helper()
	o := quick(l.T)
	o.MySQL, o.SlowLog = l.s.DSN("", "shop"), true
	o.Prepare = func(context.Context, Watch) error {
		app, id = l.session()
		l.look(app, 60)
		return nil
	}
	if change != nil {
		change(&o)
	}
	return mustRecord(l.T, o), app, id
}

// reconnecting lets idle sessions be ended, as for an application that answers on.
func reconnecting(t *testing.T, o *Options) {
	web := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	t.Cleanup(web.Close)
	o.RecycleConnections, o.Reconnects, o.Service.URL = true, true, web.URL
}

func looked(rec *kasoku.Recording) (n uint64) {
	for _, q := range rec.Queries {
		if q.Verb == "SELECT" && slices.Contains(q.Tables, "items") {
			n += q.Calls
		}
	}
	return n
}

// With performance_schema nothing of the log is changed, and the statements are known.
func digestsInstead(l logged) {
	rec, app, _ := l.record(nil)
	if w := warned(rec, "digests-instead"); !strings.Contains(w.Text, "slow_query_log was ON") || !strings.Contains(w.Hint, "--slowlog") {
		l.Errorf("%+v", rec.Warnings)
	}
	if got := looked(rec); got != 60 {
		l.Errorf("%d statements, want 60", got)
	}
	if grown := l.look(app, 1000); grown != 0 {
		l.Errorf("1,000 look-ups after the run add %d bytes to the slow log", grown)
	}
	if left := Leftovers(rec); left != "" {
		l.Error(left)
	}
}

// With the slow log the session is named, and the line given mends it.
func logAnyway(l logged) {
	rec, app, id := l.record(func(o *Options) { o.SlowLogAnyway = true })
	if got := looked(rec); got != 60 {
		l.Errorf("%d statements, want 60", got)
	}
	w := warned(rec, CodeSessionsLog)
	if !strings.Contains(w.Text, "1 session that began meanwhile") ||
		!strings.Contains(w.Text, fmt.Sprintf("%d (root@", id)) || Leftovers(rec) == "" {
		l.Errorf("session %d: %+v", id, rec.Warnings)
	}
	if l.look(app, 100) == 0 {
		l.Error("it does not log: nothing was to be warned of")
	}
	kill := fmt.Sprintf("KILL %d", id)
	if !strings.HasPrefix(w.Hint, kill+";") {
		l.Errorf("hint %q", w.Hint)
	}
	sandboxtest.Exec(l, l.db, kill)
	if grown := l.look(app, 1000); grown > 1000 { // the pool has opened a new one; MariaDB logs the end of the other
		l.Errorf("1,000 look-ups after %s add %d bytes to the slow log", kill, grown)
	}
}

// Who lets idle connections be ended has them ended after the run, too.
func recycledAfter(l logged) {
	rec, app, _ := l.record(func(o *Options) { o.SlowLogAnyway = true; reconnecting(l.T, o) })
	if left := Leftovers(rec); left != "" {
		l.Error(left)
	}
	if grown := l.look(app, 1000); grown != 0 {
		l.Errorf("1,000 look-ups after the run add %d bytes to the slow log", grown)
	}
}

// A client with one connection that it never opens anew ends the recording before its load,
// with all put back.
func brokenBefore(l logged) {
	db, _ := l.session()
	conn, err := db.Conn(l.Context())
	if err != nil {
		l.Fatal(err)
	}
	defer conn.Close()
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, err := conn.ExecContext(r.Context(), "DO 1"); err != nil {
			w.WriteHeader(http.StatusInternalServerError)
		}
	}))
	defer web.Close()
	o := quick(l.T)
	o.MySQL, o.SlowLog, o.SlowLogAnyway, o.For = l.s.DSN("", "shop"), true, true, time.Hour
	o.RecycleConnections, o.Reconnects, o.Service.URL = true, true, web.URL
	var broken *recycle.BrokenError
	if _, err := Record(l.Context(), o); !errors.As(err, &broken) || broken.Last != "status 500" {
		l.Errorf("%v; want a broken application", err)
	}
}

// When no session begins any more, later ones have the server's own value, in
// mid-run; those that were there are logged on.
func relaxedMeanwhile(l logged) {
	o := quick(l.T)
	o.MySQL, o.SlowLog, o.SlowLogAnyway = l.s.DSN("", "shop"), true, true
	reconnecting(l.T, &o)
	o.settled, o.For = 300*time.Millisecond, time.Hour
	var apps []*sql.DB
	o.Prepare = func(context.Context, Watch) error {
		for range ownSessions + 2 {
			app, _ := l.session()
			apps = append(apps, app)
		}
		return nil
	}
	ctx, cancel := context.WithCancelCause(l.Context())
	defer cancel(nil)
	o.OnProgress = func(p Progress) {
		if p.Phase != PhaseRecord || globals(l, l.db)["long_query_time"] != "5.000000" || ctx.Err() != nil {
			return
		}
		late, _ := l.session()
		var has float64
		if err := late.QueryRowContext(l.Context(), "SELECT @@SESSION.long_query_time").Scan(&has); err != nil {
			l.Error(err)
		}
		if has != 5 { // it was switched on again, for another session, since it was looked at
			return
		}
		if l.look(late, 10) > 0 || l.look(apps[0], 10) == 0 {
			l.Error("the late session logs, or the early one does not")
		}
		cancel(errors.New("seen enough"))
	}
	res, err := Record(ctx, o)
	if err != nil {
		l.Fatal(err)
	}
	rec := res.Recording
	if left := Leftovers(rec); left != "" || rec.Run.StopReason != "seen enough" {
		l.Errorf("%s, %q", left, rec.Run.StopReason)
	}
	if grown := l.look(apps[0], 1000); grown != 0 {
		l.Errorf("1,000 look-ups after the run add %d bytes to the slow log", grown)
	}
}

// Two recorders with different directories, in one process: the second has no slow log
// and says why.
func twoRecorders(l logged) {
	var second *kasoku.Recording
	l.record(func(o *Options) {
		o.SlowLogAnyway = true
		reconnecting(l.T, o)
		o.Guard = &Guard{Dir: l.TempDir()}
		prepare := o.Prepare
		o.Prepare = func(ctx context.Context, w Watch) error {
			b := quick(l.T)
			b.MySQL, b.SlowLog, b.SlowLogAnyway, b.Guard = o.MySQL, true, true, &Guard{Dir: l.TempDir()}
			b.Prepare = prepare
			second = mustRecord(l.T, b)
			if now := globals(l, l.db)["long_query_time"]; now != "0.000000" {
				l.Errorf("long_query_time is %s after the second", now)
			}
			return nil
		}
	})
	if w := warned(second, "no-slow-log"); !strings.Contains(w.Text, "with journals of its own changes this server's settings: connection") || !strings.Contains(w.Text, "root@") {
		l.Errorf("%+v", second.Warnings)
	}
	if got := looked(second); got != 60 { // by digest
		l.Errorf("%d statements, want 60", got)
	}
}

// Where the slow log was off, sessions keep the value and log nothing: a note, no
// warning.
func offBefore(l logged) {
	sandboxtest.Exec(l, l.db, "SET GLOBAL slow_query_log = OFF")
	defer sandboxtest.Exec(l, l.db, "SET GLOBAL slow_query_log = ON")
	rec, app, id := l.record(nil)
	i := slices.IndexFunc(rec.Changes, func(c kasoku.Change) bool { return c.Name == "sessions" })
	if i < 0 || !strings.Contains(rec.Changes[i].Note, fmt.Sprintf("%d (root@", id)) ||
		!strings.Contains(rec.Changes[i].Note, "nothing is logged") || Leftovers(rec) != "" {
		l.Errorf("%+v", rec.Changes)
	}
	if got := looked(rec); got != 60 {
		l.Errorf("%d statements, want 60", got)
	}
	if grown := l.look(app, 1000); grown != 0 {
		l.Errorf("1,000 look-ups after the run add %d bytes to the slow log", grown)
	}
}
