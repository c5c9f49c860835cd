package guard

import (
	"errors"
	"fmt"
	"strings"

	"github.com/kasoku/kasoku/mysql"
	"github.com/kasoku/kasoku/sandbox/sandboxtest"
)

// apart is a recording with journals of its own on the same server.
func (f fixture) apart() (*Hold, *mysql.Reader) {
	f.Helper()
	other := f
	other.dir = f.TempDir()
	return other.take("/apart")
}

// twoDirectories: of two recordings that do not share journals the second changes
// nothing, whoever ends first, and says who was there before; the values are what they
// were.
func twoDirectories(f fixture) {
	for _, firstEndsFirst := range []bool{true, false} {
		a, first := f.take("/a", slow)
		during := values(f, f.db)
		b, r := f.apart()
		err := b.Apply(f.Context(), extra(r))
		var taken *TakenError
		if !errors.As(err, &taken) || taken.By.ID != first.Epoch().Session || taken.By.User != "kasoku" ||
			!strings.Contains(err.Error(), fmt.Sprintf("connection %d (kasoku@", taken.By.ID)) || !strings.Contains(taken.Hint(), fmt.Sprintf("KILL %d", taken.By.ID)) {
			f.Fatalf("%v, %+v", err, taken)
		}
		for name, is := range values(f, f.db) {
			if is != during[name] {
				f.Errorf("the second changed %s", name)
			}
		}
		if firstEndsFirst {
			f.release(a)
			f.unchanged()
			if err := b.Apply(f.Context(), extra(r)); err != nil { // the first is gone
				f.Error(err)
			}
			f.release(b)
		} else {
			f.release(b)
			if d := f.differences(); d != slowNames {
				f.Errorf("changed: %s", d)
			}
			f.release(a)
		}
		f.unchanged()
		_ = first.Close()
	}
}

// guardStands: the guard process holds the place of a recorder that was killed, so no
// other recording takes what it changed for the originals.
func guardStands(f fixture) {
	h, r := f.take("/a")
	if err := h.Claim(f.Context()); err != nil {
		f.Fatal(err)
	}
	if l := h.Listener(); l.Socket == "" || l.Data == "" || l.check(f.dsn) != nil {
		f.Errorf("who listens is not known: %+v, %v", l, l.check(f.dsn))
	}
	s := takeStand(Request{DSN: f.dsn, Place: h.Place()})
	if err := h.AwaitGuard(f.Context()); err != nil {
		f.Fatal(err)
	}
	if err := h.Apply(f.Context(), slow(r)); err != nil {
		f.Fatal(err)
	}
	if err := r.Close(); err != nil { // as the kernel does
		f.Fatal(err)
	}
	watch := f.reader(f.s.DSN("", ""))
	f.until("the end of the session", func() bool {
		n, err := mysql.NewClients(watch).Open(f.Context(), []uint64{r.Epoch().Session})
		return err == nil && n == 0
	})
	b, other := f.apart()
	var taken *TakenError
	if err := b.Apply(f.Context(), extra(other)); !errors.As(err, &taken) || !taken.Guard {
		f.Errorf("%v", err)
	}
	c, _ := f.take("/c", slow) // one that shares the journal may
	legacy := Legacy{Request: Request{Dir: f.dir, DSN: f.dsn, Holder: ThisProcess("/a"), Place: h.place}, stand: s}
	if err := legacy.Recover(f.Context(), func(Left) error { return nil }); err != nil {
		f.Error(err)
	}
	s.leave()
	if err := b.Apply(f.Context(), extra(other)); !errors.As(err, &taken) {
		f.Errorf("beside the third: %v", err)
	}
	f.release(c)
	f.unchanged()
	f.until("the end of the guard's session", func() bool { return b.Apply(f.Context(), extra(other)) == nil })
	f.release(b)
	f.unchanged()
}

// lockKept: a session that was lost has its lock again.
func lockKept(f fixture) {
	a, r := f.take("/a", slow)
	session := r.Epoch().Session
	sandboxtest.Exec(f, f.db, fmt.Sprintf("KILL %d", session))
	watch := f.reader(f.s.DSN("", ""))
	f.until("the end of the session", func() bool { // KILL returns before: what is asked at once may still be answered
		n, err := mysql.NewClients(watch).Open(f.Context(), []uint64{session})
		return err == nil && n == 0
	})
	if _, err := r.Variables(f.Context()); err != nil {
		f.Fatal(err)
	}
	b, other := f.apart()
	if err := b.Apply(f.Context(), extra(other)); !errors.As(err, new(*TakenError)) {
		f.Errorf("%v", err)
	}
	f.release(a)
	f.unchanged()
}

func (f fixture) until(what string, holds func() bool) {
	f.Helper()
	sandboxtest.Until(f, what, holds)
}

// logging is a server whose slow log is on and holds slow statements only.
func (f *fixture) logging() {
	f.Helper()
	sandboxtest.Exec(f, f.db, "SET GLOBAL log_output = 'FILE'", "SET GLOBAL min_examined_row_limit = 0", "SET GLOBAL long_query_time = 5", "SET GLOBAL slow_query_log = ON")
	f.was = values(f, f.db)
	f.Cleanup(func() {
		sandboxtest.Exec(f, f.db, "SET GLOBAL slow_query_log = OFF", "SET GLOBAL log_output = 'TABLE'", "SET GLOBAL min_examined_row_limit = 5", "SET GLOBAL long_query_time = 10")
	})
}

// session opens one of an application's, and returns its id.
func (f fixture) session() (*mysql.Client, func(...string)) {
	f.Helper()
	db := sandboxtest.DB(f, f.s, "")
	db.SetMaxOpenConns(1)
	c := &mysql.Client{}
	if err := db.QueryRowContext(f.Context(), "SELECT CONNECTION_ID()").Scan(&c.ID); err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { _ = db.Close() })
	return c, func(statements ...string) { sandboxtest.Exec(f, db, statements...) }
}

// heirs: a session that began during a recording is named with what mends it; the
// journal stays until it is over.
func heirs(f fixture) {
	f.logging()
	before, _ := f.session()
	h, _ := f.take("/a", slow)
	began, exec := f.session()
	f.release(h)
	f.unchanged()
	after, _ := f.session()
	got := h.Heirs()
	if !got.Burden() || len(got.Clients) != 1 || got.Clients[0].ID != began.ID || before.ID == after.ID {
		f.Fatalf("%+v; before %d, meanwhile %d, after %d", got, before.ID, began.ID, after.ID)
	}
	if s := got.String(); !strings.Contains(s, fmt.Sprintf("%d (root@", began.ID)) || !strings.Contains(s, "long_query_time 0") || !strings.Contains(s, "slow_query_log is ON") {
		f.Error(s)
	}
	if s := got.Hint(); !strings.Contains(s, fmt.Sprintf("KILL %d;", began.ID)) || !strings.Contains(s, "SET SESSION long_query_time = 5") {
		f.Error(s)
	}
	path, j := f.journal()
	if len(j.Pending()) != 0 || j.Last == nil {
		f.Errorf("%+v", j)
	}
	var left *HeirsError
	if _, err := f.restore(path, f.dsn); !errors.As(err, &left) {
		f.Errorf("restore: %v", err)
	}
	if got.Exact { // what the hint says for a session of one's own mends it
		exec("SET SESSION long_query_time = 5")
	} else if n, err := EndHeirs(f.Context(), path, f.dsn); err != nil || n != 1 {
		f.Errorf("ended %d, %v", n, err)
	}
	if _, err := f.restore(path, f.dsn); err != nil {
		f.Error(err)
	}
}

// relaxed: in mid-recording the values that sessions copy are given back and taken
// again; the first originals are what comes back, whenever it ends.
func relaxed(f fixture) {
	f.logging()
	for _, tight := range []bool{false, true} {
		h, _ := f.take("/a", slow)
		early, _ := f.session()
		if ok, err := h.Relax(f.Context()); !ok || err != nil {
			f.Fatal(ok, err)
		}
		f.unchanged() // all but the sessions' values was as wanted
		between, _ := f.session()
		if tight {
			if err := h.Tighten(f.Context()); err != nil {
				f.Fatal(err)
			}
			if d := f.differences(); d != "long_query_time" {
				f.Errorf("changed: %s", d)
			}
		}
		late, _ := f.session()
		f.release(h)
		f.is(h.Changes(), true, "long_query_time", "")
		f.unchanged()
		want := []uint64{early.ID}
		if tight {
			want = append(want, late.ID)
		}
		var got []uint64
		for _, c := range h.Heirs().Clients {
			got = append(got, c.ID)
		}
		if fmt.Sprint(got) != fmt.Sprint(want) {
			f.Errorf("heirs %v, want %v; between %d", got, want, between.ID)
		}
		if n, err := h.EndHeirs(f.Context()); err != nil || n != len(want) || h.Heirs().Burden() {
			f.Errorf("ended %d, %v, left %+v", n, err, h.Heirs())
		}
	}
}

// Two that share the journal: while the second needs the values they are not given back.
func relaxedBeside(f fixture) {
	f.logging()
	a, _ := f.take("/a", slow)
	b, _ := f.take("/b", slow)
	if ok, err := a.Relax(f.Context()); ok || err != nil {
		f.Error(ok, err)
	}
	f.release(a)
	if d := f.differences(); d != "long_query_time" {
		f.Errorf("changed: %s", d)
	}
	f.release(b)
	f.unchanged()
}

// revoked: a server that refuses the way back is asked what its values are.
func revoked(f fixture) {
	sandboxtest.Exec(f, f.db, "CREATE USER brief@'%' IDENTIFIED BY 'x'", "GRANT ALL ON *.* TO brief@'%'", "CREATE USER brief@localhost IDENTIFIED BY 'x'", "GRANT ALL ON *.* TO brief@localhost")
	defer sandboxtest.Exec(f, f.db, "DROP USER brief@'%'", "DROP USER brief@localhost")
	brief := f
	brief.dsn = strings.Replace(f.dsn, "kasoku:"+password, "brief:x", 1)
	h, r := brief.take("/a", slow)
	sandboxtest.Exec(f, f.db, "REVOKE ALL PRIVILEGES, GRANT OPTION FROM brief@'%'", "REVOKE ALL PRIVILEGES, GRANT OPTION FROM brief@localhost",
		fmt.Sprintf("KILL %d", r.Epoch().Session)) // a session keeps the privileges that it began with
	if err := h.Release(f.Context(), func(Left) error { return nil }); err == nil {
		f.Fatal("released without the right")
	}
	if s := h.Now(f.Context()); !strings.Contains(s, "slow_query_log is ON, it was OFF") || !strings.Contains(s, "long_query_time is 0.000000, it was 10.000000") {
		f.Error(s)
	}
	path, _ := f.journal()
	if _, err := f.restore(path, brief.dsn); err == nil || !strings.Contains(err.Error(), "slow_query_log is ON, it was OFF") {
		f.Errorf("restore: %v", err)
	}
	sandboxtest.Exec(f, f.db, "SET GLOBAL long_query_time = 0.75")
	if s := h.Now(f.Context()); !strings.Contains(s, "long_query_time is 0.750000, set by somebody else; it was 10.000000") {
		f.Error(s)
	}
	sandboxtest.Exec(f, f.db, "SET GLOBAL long_query_time = 0")
	if _, err := f.restore(path, f.dsn); err != nil {
		f.Error(err)
	}
	f.unchanged()
}
