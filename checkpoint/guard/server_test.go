package guard

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kasoku/kasoku/internal/test/turn"
	"github.com/kasoku/kasoku/mysql"
	"github.com/kasoku/kasoku/mysqlflags"
	"github.com/kasoku/kasoku/sandbox"
	"github.com/kasoku/kasoku/sandbox/sandboxtest"
)

// A fixture is a server whose settings are none of the defaults, with a user who
// has a password.
type fixture struct {
	*testing.T
	s   *sandbox.Server
	db  *sql.DB
	dir string
	dsn string
	was map[string]string
}

const password = "geheim"

// TestServers runs its parts on both kinds of servers; the last ones restart it.
func TestServers(t *testing.T) {
	turn.Wait(t)
	sandboxtest.Each(t, sandbox.Options{Args: []string{"--skip-log-bin", "--performance-schema=ON"}}, func(t *testing.T, s *sandbox.Server) {
		db := sandboxtest.DB(t, s, "")
		sandboxtest.Exec(t, db,
			"CREATE USER kasoku@'%' IDENTIFIED BY '"+password+"'", "GRANT ALL ON *.* TO kasoku@'%'",
			"CREATE USER kasoku@localhost IDENTIFIED BY '"+password+"'", "GRANT ALL ON *.* TO kasoku@localhost",
			"CREATE USER weak@'%' IDENTIFIED BY '"+password+"'", "CREATE USER weak@localhost IDENTIFIED BY '"+password+"'",
			"SET GLOBAL min_examined_row_limit = 5", "SET GLOBAL log_output = 'TABLE'")
		off := []string{"UPDATE performance_schema.setup_consumers SET ENABLED = 'NO' WHERE NAME = 'statements_digest'",
			"UPDATE performance_schema.setup_instruments SET TIMED = 'NO' WHERE NAME = 'statement/com/Init DB'"}
		sandboxtest.Exec(t, db, off...)
		dsn := fmt.Sprintf("kasoku:%s@tcp(%s)/", password, s.Addr())
		for _, part := range []struct {
			name string
			test func(fixture)
		}{
			{"alone", alone}, {"memory", inMemory}, {"first ends first", firstEndsFirst}, {"second ends first", secondEndsFirst},
			{"refused", refused}, {"foreign change", foreignChange}, {"power cut", powerCut}, {"recorder gone", recorderGone}, {"rows", rowsOfTheDead}, {"session open", sessionOpen}, {"dead before", deadBefore},
			{"two directories", twoDirectories}, {"guard stands", guardStands}, {"lock kept", lockKept}, {"heirs", heirs}, {"relaxed", relaxed}, {"relaxed beside", relaxedBeside}, {"revoked", revoked},
			{"journal lost", journalLost}, {"journal foreign", journalForeign}, {"other server", otherServer}, {"unreachable", unreachable}, {"restarted", restarted},
		} {
			t.Run(part.name, func(t *testing.T) {
				f := fixture{t, s, db, t.TempDir(), dsn, values(t, db)}
				part.test(f)
				if left, err := os.ReadDir(f.dir); err != nil || len(left) != 0 {
					t.Errorf("left over: %v, %v", left, err)
				}
			})
		}
	})
}

// values are all settings of a server that somebody can change.
func values(t testing.TB, db *sql.DB) map[string]string {
	t.Helper()
	out := map[string]string{}
	for _, q := range []string{"SHOW GLOBAL VARIABLES", "SELECT NAME, ENABLED FROM performance_schema.setup_consumers",
		"SELECT NAME, CONCAT(ENABLED, COALESCE(TIMED, '')) FROM performance_schema.setup_instruments"} {
		rows, err := db.QueryContext(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		for rows.Next() {
			var name, value string
			if err := rows.Scan(&name, &value); err != nil {
				t.Fatal(err)
			}
			out[name] = value
		}
		if err := errors.Join(rows.Err(), rows.Close()); err != nil {
			t.Fatal(err)
		}
	}
	maps.DeleteFunc(out, func(name, _ string) bool { return strings.HasPrefix(name, "gtid") || name == "timestamp" })
	return out
}

// differences are the names of the values that are not what they were.
func (f fixture) differences() string {
	f.Helper()
	var out []string
	second := []string{"log_slow_query", "log_slow_query_time", "log_slow_min_examined_row_limit"} // names of MariaDB's
	for name, is := range values(f, f.db) {
		if f.was[name] != is && !slices.Contains(second, name) {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return strings.Join(out, " ")
}

func (f fixture) unchanged() {
	f.Helper()
	if d := f.differences(); d != "" {
		f.Errorf("not what they were: %s", d)
	}
}

func (f fixture) reader(dsn string) *mysql.Reader {
	f.Helper()
	db, err := mysqlflags.OpenDSN(dsn)
	if err != nil {
		f.Fatal(err)
	}
	r, err := mysql.New(f.Context(), db)
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { _, _ = r.Close(), db.Close() })
	return r
}

// take has a recording take hold.
func (f fixture) take(run string, planners ...func(*mysql.Reader) Planner) (*Hold, *mysql.Reader) {
	f.Helper()
	r := f.reader(f.dsn)
	h, err := New(f.Context(), r, Options{Dir: f.dir, Run: run, DSN: f.dsn})
	if err != nil {
		f.Fatal(err)
	}
	for _, p := range planners {
		if err := h.Apply(f.Context(), p(r)); err != nil {
			f.Fatal(err)
		}
	}
	return h, r
}

// release lets go and returns what was kept of others.
func (f fixture) release(h *Hold) []Left {
	f.Helper()
	var others []Left
	own := 0
	err := h.Release(f.Context(), func(l Left) error {
		if l.Own {
			own++
		} else {
			others = append(others, l)
		}
		return nil
	})
	if err != nil || own != 1 {
		f.Errorf("kept %d times: %v", own, err)
	}
	return others
}

// restore puts back as kasoku restore does.
func (f fixture) restore(path, dsn string) ([]Left, error) {
	var out []Left
	err := Restore(f.Context(), path, dsn, func(l Left) error { out = append(out, l); return nil })
	return out, err
}

func slow(r *mysql.Reader) Planner { return mysql.NewSlowLog(r, mysql.Settings{}) }
func extra(r *mysql.Reader) Planner {
	return mysql.NewSlowLog(r, mysql.Settings{Extra: true})
}
func digests(r *mysql.Reader) Planner { return mysql.NewConsumers(r) }

// journal is the only one there is.
func (f fixture) journal() (string, *Journal) {
	f.Helper()
	found, err := Journals(f.dir)
	if err != nil || len(found) != 1 || found[0].Journal == nil {
		f.Fatalf("journals %+v, %v", found, err)
	}
	return found[0].Path, found[0].Journal
}

// edit changes the journal as time would.
func (f fixture) edit(change func(j *Journal)) string {
	f.Helper()
	path, j := f.journal()
	change(j)
	text, err := json.Marshal(j)
	if err == nil {
		err = os.WriteFile(path, text, 0o600)
	}
	if err != nil {
		f.Fatal(err)
	}
	return path
}

const slowNames = "log_output long_query_time min_examined_row_limit slow_query_log"

func (f fixture) is(changes []mysql.Changed, restored bool, names, note string) {
	f.Helper()
	var got []string
	for _, c := range changes {
		got = append(got, c.Name)
		if c.Restored != restored || !strings.HasPrefix(c.Note, note) || (c.Note == "") != (note == "") {
			f.Errorf("%+v", c)
		}
	}
	slices.Sort(got)
	if s := strings.Join(got, " "); s != names {
		f.Errorf("changes %s, want %s", s, names)
	}
}

const allNames = "log_output long_query_time min_examined_row_limit setup_consumers.statements_digest " +
	"setup_instruments.statement/com/Init DB slow_query_log"

func alone(f fixture) {
	h, _ := f.take("/a", slow, digests)
	f.is(h.Changes(), false, allNames, "")
	if d := f.differences(); d != "log_output long_query_time min_examined_row_limit slow_query_log statement/com/Init DB statements_digest" {
		f.Errorf("changed: %s", d)
	}
	path, j := f.journal()
	if text, err := os.ReadFile(path); err != nil || strings.Contains(string(text), password) || !j.Holders[0].HadPassword() {
		f.Errorf("%v\n%s", err, text)
	}
	for _, c := range j.Changes {
		if row := strings.TrimPrefix(strings.TrimPrefix(c.Name, "setup_consumers."), "setup_instruments."); strings.ReplaceAll(c.Before, ",", "") != f.was[row] {
			f.Errorf("%+v, was %q", c, f.was[row])
		}
	}
	if j.InUse() == nil {
		f.Error("not in use")
	}
	if left, err := f.restore(path, f.dsn); err != nil || len(left) != 0 {
		f.Errorf("restored from under a living recording: %+v, %v", left, err)
	}
	f.release(h)
	f.is(h.Changes(), true, allNames, "")
	f.unchanged()
	f.release(h) // a second time is nothing
	f.is(h.Changes(), true, allNames, "")
}

// Without a directory the changes are put back all the same.
func inMemory(f fixture) {
	r := f.reader(f.dsn)
	h, err := New(f.Context(), r, Options{})
	if err != nil {
		f.Fatal(err)
	}
	if err := h.Apply(f.Context(), slow(r)); err != nil {
		f.Fatal(err)
	}
	f.is(h.Changes(), false, slowNames, "")
	f.release(h)
	f.is(h.Changes(), true, slowNames, "")
	f.unchanged()
}

func firstEndsFirst(f fixture) {
	a, _ := f.take("/a", slow)
	b, _ := f.take("/b", extra)
	verbosity := "log_slow_extra"
	if f.s.Kind == sandbox.KindMariaDB {
		verbosity = "log_slow_verbosity"
	}
	shared := "log_output " + verbosity + " long_query_time min_examined_row_limit slow_query_log"
	f.is(b.Changes(), false, shared, "")
	f.release(a)
	f.is(a.Changes(), false, slowNames, fmt.Sprintf("kept on for another run (pid %d)", os.Getpid()))
	if d := f.differences(); d != shared {
		f.Errorf("changed: %s", d)
	}
	f.release(b)
	f.is(b.Changes(), true, shared, "")
	f.unchanged()
}

func secondEndsFirst(f fixture) {
	a, _ := f.take("/a", slow)
	b, _ := f.take("/b", slow, digests)
	f.release(b)
	for _, c := range b.Changes() { // what only b needed is put back at once
		if mine := strings.HasPrefix(c.Name, "setup_"); c.Restored != mine || (c.Note == "") != mine {
			f.Errorf("%+v", c)
		}
	}
	if d := f.differences(); d != slowNames {
		f.Errorf("changed: %s", d)
	}
	f.release(a)
	f.is(a.Changes(), true, slowNames, "")
	f.unchanged()
}

// A user who may not do it leaves nothing half done, and no journal.
func refused(f fixture) {
	dsn := strings.Replace(f.dsn, "kasoku:", "weak:", 1)
	r := f.reader(dsn)
	h, err := New(f.Context(), r, Options{Dir: f.dir, Run: "/weak", DSN: dsn})
	if err != nil {
		f.Fatal(err)
	}
	for _, p := range []Planner{slow(r), digests(r)} {
		var hinted interface{ Hint() string }
		if err := h.Apply(f.Context(), p); !errors.As(err, &hinted) || !strings.Contains(hinted.Hint(), "GRANT") {
			f.Errorf("%v", err)
		}
	}
	f.is(h.Changes(), false, "", "")
	f.unchanged()
	// A directory that cannot be: nothing is changed.
	file := filepath.Join(f.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		f.Fatal(err)
	}
	root := f.reader(f.dsn)
	if h, err = New(f.Context(), root, Options{Dir: filepath.Join(file, "x"), DSN: f.dsn}); err != nil {
		f.Fatal(err)
	}
	var hinted interface{ Hint() string }
	if err := h.Apply(f.Context(), slow(root)); !errors.As(err, &hinted) || !strings.HasPrefix(err.Error(), "journal: ") || !strings.Contains(hinted.Hint(), "KASOKU_STATE=") {
		f.Errorf("%v", err)
	}
	if err := h.Release(f.Context(), func(Left) error { return nil }); err != nil {
		f.Errorf("nothing was changed, and yet: %v", err)
	}
	f.unchanged()
}

func foreignChange(f fixture) {
	h, _ := f.take("/a", slow)
	sandboxtest.Exec(f, f.db, "SET GLOBAL long_query_time = 0.25")
	f.release(h)
	for _, c := range h.Changes() {
		if foreign := c.Name == "long_query_time"; c.Restored == foreign || foreign && !strings.Contains(c.Note, `somebody has set it to "0.250000"`) {
			f.Errorf("%+v", c)
		}
	}
	if d := f.differences(); d != "long_query_time" {
		f.Errorf("changed: %s", d)
	}
	sandboxtest.Exec(f, f.db, "SET GLOBAL long_query_time = "+f.was["long_query_time"])
}

// After a power cut neither recorder nor guard is there, the server may be.
func powerCut(f fixture) {
	_, r := f.take("/a", slow, digests)
	path := f.edit(func(j *Journal) { j.Holders[0].Boot = "another" })
	if err := r.Close(); err != nil {
		f.Fatal(err)
	}
	left, err := f.restore(path, f.dsn)
	if err != nil || len(left) != 1 || left[0].Run != "/a" {
		f.Fatalf("%+v, %v", left, err)
	}
	f.is(left[0].Changes, true, allNames, "")
	f.unchanged()
	if left, err := f.restore(path, f.dsn); err != nil || len(left) != 0 {
		f.Errorf("a second time: %+v, %v", left, err)
	}
}

// A change that the dead sent last may still be on its way: what it did is put
// back only when its session is over.
func sessionOpen(f fixture) {
	_, r := f.take("/a", slow)
	path := f.edit(func(j *Journal) { j.Holders[0].Start++ })
	done := make(chan error)
	go func() {
		left, err := f.restore(path, f.dsn)
		if err == nil && len(left) != 1 {
			err = fmt.Errorf("left %+v", left)
		}
		done <- err
	}()
	watch := f.reader(f.s.DSN("", ""))
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for { // until it has connected
		s, err := watch.Sessions(f.Context())
		if err != nil {
			f.Fatal(err)
		}
		if s.Total() >= 3 { // the fixture's, the dead's, its own
			break
		}
		<-tick.C
	}
	select {
	case err := <-done:
		f.Errorf("it did not wait: %v", err)
		return
	case <-tick.C:
	}
	if err := r.Close(); err != nil {
		f.Fatal(err)
	}
	if err := <-done; err != nil {
		f.Error(err)
	}
	f.unchanged()
}

// The guard does not ask whether its recorder lives: its pipe says so.
func recorderGone(f fixture) {
	_, r := f.take("/a", slow)
	if err := r.Close(); err != nil {
		f.Fatal(err)
	}
	legacy := Legacy{Request: Request{Dir: f.dir, DSN: f.dsn, Holder: ThisProcess("/a")}}
	var left []Left
	err := legacy.Recover(f.Context(), func(l Left) error { left = append(left, l); return nil })
	if err != nil || len(left) != 1 {
		f.Fatalf("%+v, %v", left, err)
	}
	f.is(left[0].Changes, true, slowNames, "")
	f.unchanged()
}

// What a killed recording left in the slow log's table goes with it, and by the end of another one
// where that still needed the log in its table; while one reads it, it stays.
func rowsOfTheDead(f fixture) {
	sandboxtest.Exec(f, f.db, "SET GLOBAL log_output = 'FILE'")
	f.Cleanup(func() { sandboxtest.Exec(f, f.db, "SET GLOBAL log_output = 'TABLE'") })
	table := func(r *mysql.Reader) Planner { return mysql.NewSlowLog(r, mysql.Settings{Table: true}) }
	take := func(run string) *Hold {
		f.Helper()
		h, r := f.take(run)
		if free, err := h.TakeRows(f.Context()); !free || err != nil {
			f.Fatal(free, err)
		}
		if err := h.Apply(f.Context(), table(r)); err != nil {
			f.Fatal(err)
		}
		return h
	}
	rows := func() (n int) {
		f.Helper()
		own, err := mysqlflags.OpenDSN(f.dsn) // a session of its own has the settings of now
		if err != nil {
			f.Fatal(err)
		}
		defer own.Close()
		sandboxtest.Exec(f, own, "SELECT 1 + 1", "SELECT 2 + 2") // the first is in the log before the second begins
		if err := f.db.QueryRowContext(f.Context(), "SELECT COUNT(*) FROM mysql.slow_log").Scan(&n); err != nil {
			f.Fatal(err)
		}
		return n
	}
	gone := func(h *Hold) {
		f.Helper()
		legacy := Legacy{Request: Request{Dir: f.dir, DSN: f.dsn, Holder: h.me}}
		if err := legacy.Recover(f.Context(), func(Left) error { return nil }); err != nil {
			f.Fatal(err)
		}
	}
	a := take("/a")
	if rows() == 0 {
		f.Fatal("no row came")
	}
	b := take("/b")
	gone(a)
	if rows() == 0 {
		f.Error("the rows are gone while /b reads them")
	}
	f.release(b)
	if rows() == 0 {
		f.Error("the rows are gone before /b has read them")
	}
	gone(b)
	if n := rows(); n != 0 {
		f.Errorf("%d rows stay of the dead", n)
	}
	a = take("/a")
	c, _ := f.take("/c", table) // it reads nothing there
	rows()
	f.release(a)
	if err := a.FreeRows(f.Context()); err != nil || rows() == 0 {
		f.Errorf("the table is emptied while the log goes there: %v", err)
	}
	f.release(c)
	if n := rows(); n != 0 {
		f.Errorf("%d rows stay after the last one", n)
	}
}

// A recording that begins after another was killed, guard and all, takes over
// what it needs, puts back the rest, and reports the dead one at its end.
func deadBefore(f fixture) {
	_, r := f.take("/dead", slow, digests)
	f.edit(func(j *Journal) { j.Holders[0].Start++ })
	if err := r.Close(); err != nil {
		f.Fatal(err)
	}
	h, _ := f.take("/a", slow)
	f.is(h.Changes(), false, slowNames, "")
	if d := f.differences(); d != slowNames {
		f.Errorf("changed: %s", d)
	}
	left := f.release(h)
	f.is(h.Changes(), true, slowNames, "")
	if len(left) != 1 || left[0].Run != "/dead" {
		f.Errorf("%+v", left)
	} else {
		f.is(left[0].Changes, true, allNames, "")
	}
	f.unchanged()
}

func journalLost(f fixture) {
	h, _ := f.take("/a", slow)
	path, _ := f.journal()
	if err := Forget(f.Context(), path); err != nil {
		f.Fatal(err)
	}
	f.release(h)
	f.is(h.Changes(), true, slowNames, "")
	f.unchanged()
}

func otherServer(f fixture) {
	h, _ := f.take("/a", slow)
	path := f.edit(func(j *Journal) { j.Server.UUID = "another"; j.Holders[0].Boot = "another" })
	if _, err := f.restore(path, f.dsn); !errors.Is(err, ErrOtherServer) {
		f.Errorf("%v", err)
	}
	if err := Forget(f.Context(), path); err != nil {
		f.Fatal(err)
	}
	f.release(h)
	f.unchanged()
}

// A server that is away at the end of a recording is put right once it answers;
// it was restarted then, so it is right already.
func unreachable(f fixture) {
	h, r := f.take("/a", slow)
	path, _ := f.journal()
	if err := f.s.Kill(); err != nil {
		f.Fatal(err)
	}
	if err := h.Release(f.Context(), func(Left) error { return nil }); err == nil {
		f.Error("released on a dead server")
	}
	f.is(h.Changes(), false, slowNames, "")
	_ = r.Close()
	_, j := f.journal()
	if j.InUse() != nil || len(j.Pending()) != 4 {
		f.Errorf("%+v", j)
	}
	legacy := Legacy{Request: Request{Dir: f.dir, DSN: f.dsn, Holder: ThisProcess("/a")}}
	ctx, cancel := context.WithTimeout(f.Context(), time.Minute)
	defer cancel()
	type result struct {
		left []Left
		err  error
	}
	done := make(chan result)
	go func() {
		var r result
		r.err = legacy.Recover(ctx, func(l Left) error { r.left = append(r.left, l); return nil })
		done <- r
	}()
	if err := f.s.Restart(f.Context()); err != nil {
		f.Fatal(err)
	}
	got := <-done
	if got.err != nil || len(got.left) != 1 {
		f.Fatalf("%+v", got)
	}
	f.is(got.left[0].Changes, false, slowNames, "left alone: the server was restarted")
	if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
		f.Errorf("the journal: %v", err)
	}
}

// A server that was restarted during a recording runs with its own settings.
func restarted(f fixture) {
	a, _ := f.take("/a", slow)
	if err := f.s.Kill(); err != nil {
		f.Fatal(err)
	}
	if err := f.s.Restart(f.Context()); err != nil {
		f.Fatal(err)
	}
	f.was = values(f, f.db)
	f.release(a)
	for _, c := range a.Changes() {
		if c.Restored || c.Note != mysql.NoteRestarted {
			f.Errorf("%+v", c)
		}
	}
	f.unchanged()
}

// journalForeign: a foreign file in the journal's place blocks no recording, neither
// before its start nor while it goes on.
func journalForeign(f fixture) {
	r := f.reader(f.dsn)
	h, err := New(f.Context(), r, Options{Dir: f.dir, Run: "/a", DSN: f.dsn})
	if err != nil {
		f.Fatal(err)
	}
	garbage := func() {
		f.Helper()
		if err := os.WriteFile(h.path, []byte(`{"changes":[{"Name":"general_log_file","Before":"/tmp/x"}]}`), 0o600); err != nil {
			f.Fatal(err)
		}
	}
	garbage()
	slow := mysql.NewSlowLog(r, mysql.Settings{})
	if err := h.Apply(f.Context(), slow); err != nil {
		f.Fatal(err)
	}
	if a := h.Aside(); len(a) != 1 || !strings.Contains(a[0].Why, "none of kasoku's journals") || len(h.Aside()) != 0 {
		f.Errorf("set aside: %+v", a)
	}
	garbage()
	if err := h.Release(f.Context(), func(Left) error { return nil }); err != nil {
		f.Error(err)
	}
	f.unchanged()
	bad, err := filepath.Glob(filepath.Join(f.dir, "*"+setAsideExtension))
	if err != nil || len(bad) != 2 {
		f.Errorf("set aside: %v, %v", bad, err)
	}
	for _, path := range bad {
		_ = os.Remove(path)
	}
}
