package guard

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/kasoku/kasoku/internal/command"
	"github.com/kasoku/kasoku/mysql"
)

// dead is a holder whose process number belongs to somebody else by now.
func dead(run string, needs ...string) Holder {
	h := ThisProcess(run)
	h.Start++
	h.Needs = needs
	return h
}

func alive(run string, needs ...string) Holder {
	h := ThisProcess(run)
	h.Needs = needs
	return h
}

func TestHolder_Alive(t *testing.T) {
	f := func(what string, change func(h *Holder), want bool) {
		t.Helper()
		h := ThisProcess("/run")
		change(&h)
		if got := h.Alive(); got != want {
			t.Errorf("%s: alive %t", what, got)
		}
	}
	f("this process", func(*Holder) {}, true)
	f("a later process of the number", func(h *Holder) { h.Start++ }, false)
	f("another boot", func(h *Holder) { h.Boot = "a power cut ago" }, false)
	f("no such process", func(h *Holder) { h.PID = 1 << 22 }, false)
	f("let go", func(h *Holder) { h.Gone = true }, false)
	for _, step := range []time.Duration{time.Hour, -time.Hour} { // the wall clock says nothing of who lives
		f("since "+step.String(), func(h *Holder) { h.Since = time.Now().Add(step) }, true)
	}
}

// A process that has ended and that no one has waited for holds nothing.
func TestHolder_Zombie(t *testing.T) {
	p, err := command.Start(t.Context(), command.Spec{Path: "sh", Args: []string{"-c", "sh -c 'echo $$' & exec sleep 1000"}})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Kill()
	start, ok := command.StartOf(p.Pid())
	h := Holder{PID: p.Pid(), Start: start, Boot: bootID()}
	if !ok || !h.Alive() {
		t.Errorf("%+v is not alive", h)
	}
	if _, err := p.Kill(); err != nil {
		t.Fatal(err)
	}
	if h.Alive() {
		t.Errorf("%+v is alive", h)
	}
}

func TestMerge(t *testing.T) {
	f := func(what string, have, planned, want mysql.Changed) {
		t.Helper()
		j := &Journal{Changes: []mysql.Changed{have}}
		j.merge([]mysql.Changed{planned, {Name: "new", Before: "1", During: "2"}})
		if len(j.Changes) != 2 || j.Changes[0] != want || j.Changes[1].Name != "new" {
			t.Errorf("%s: %+v", what, j.Changes)
		}
	}
	was := mysql.Changed{Name: "n", Before: "10.000000", During: "1.5"}
	f("the first original counts", was, mysql.Changed{Name: "n", Before: "1.500000", During: "0"},
		mysql.Changed{Name: "n", Before: "10.000000", During: "0"})
	f("it was not made yet", was, mysql.Changed{Name: "n", Before: "10", During: "0"},
		mysql.Changed{Name: "n", Before: "10.000000", During: "0"})
	f("somebody has set it since", was, mysql.Changed{Name: "n", Before: "3", During: "0"},
		mysql.Changed{Name: "n", Before: "3", During: "0"})
	was.Restored = true
	f("it was put back", was, mysql.Changed{Name: "n", Before: "10.000000", During: "0"},
		mysql.Changed{Name: "n", Before: "10.000000", During: "0"})
}

func TestLeave(t *testing.T) {
	j := &Journal{
		Changes: []mysql.Changed{{Name: "a", Before: "1", During: "2"}, {Name: "b", Before: "1", During: "2", Restored: true}, {Name: "c"}},
		Holders: []Holder{dead("/dead", "a", "b"), alive("/alive", "a")},
	}
	var got []Left
	keep := func(l Left) error { got = append(got, l); return nil }
	if err := j.collect(nil, Heirs{}, func(Left) error { return errors.New("the disk is full") }); err == nil || len(j.Holders) != 2 {
		t.Errorf("what was not kept is forgotten: %v", err)
	}
	if err := j.collect(&j.Holders[1], Heirs{}, keep); err != nil {
		t.Fatal(err)
	}
	if len(got) != 1 || got[0].Own || got[0].Run != "/dead" || len(got[0].Changes) != 2 || len(j.Holders) != 1 {
		t.Fatalf("%+v, left are %+v", got, j.Holders)
	}
	if a, b := got[0].Changes[0], got[0].Changes[1]; a.Restored || !strings.HasPrefix(a.Note, "kept on for another run (pid ") || !b.Restored {
		t.Errorf("%+v %+v", a, b)
	}
	if j.Changes[0].Note != "" {
		t.Errorf("the journal's own change: %+v", j.Changes[0])
	}
	// No one takes leave of the dead while their change is not put back.
	j = &Journal{Changes: []mysql.Changed{{Name: "a"}}, Holders: []Holder{dead("/dead", "a")}}
	got = nil
	if err := j.collect(nil, Heirs{}, keep); err != nil || len(got) != 0 || len(j.Holders) != 1 {
		t.Errorf("%+v", got)
	}
}

func TestFile(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a", "b")
	path := filepath.Join(dir, name(mysql.Identity{Flavor: mysql.MariaDB, Host: "../db one", Port: "3306"}))
	if base := filepath.Base(path); !strings.HasPrefix(base, "mariadb-___db_one-3306-") || filepath.Dir(path) != dir {
		t.Errorf("%q", path)
	}
	f, err := open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	if j, err := f.load(); j != nil || err != nil {
		t.Errorf("%+v, %v", j, err)
	}
	if err := f.save(&Journal{Holders: []Holder{alive("/run", "x")}}); err != nil {
		t.Fatal(err)
	}
	for p, want := range map[string]os.FileMode{dir: 0o700, path: 0o600} {
		if st, err := os.Stat(p); err != nil || st.Mode().Perm() != want {
			t.Errorf("%s: %v, %v", p, st.Mode(), err)
		}
	}
	short, cancel := context.WithCancel(t.Context())
	cancel()
	if second, err := open(short, path); second != nil || !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), "another process holds it") {
		t.Errorf("a second lock: %v", err)
	}
	if all, err := Journals(dir); err != nil || len(all) != 1 || len(all[0].Journal.Holders) != 1 {
		t.Errorf("%+v, %v", all, err)
	}
	f.close()
	if f, err = open(t.Context(), path); err != nil {
		t.Fatal(err)
	}
	if err := f.save(&Journal{}); err != nil {
		t.Error(err)
	}
	f.close()
	if left, err := os.ReadDir(dir); err != nil || len(left) != 0 {
		t.Errorf("left over: %v, %v", left, err)
	}
}

// What a process leaves that is killed before its journal is whole goes, but not
// while it is at it.
func TestTidy(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "x"+extension)
	f, err := open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path+newExtension, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	over, cancel := context.WithCancel(t.Context())
	cancel()
	Tidy(over, dir)
	if left, err := os.ReadDir(dir); err != nil || len(left) != 2 {
		t.Errorf("while it is locked: %v, %v", left, err)
	}
	closed := make(chan struct{})
	go func() {
		defer close(closed)
		_ = f.lock.Close() // as the kernel does, a little later
	}()
	Tidy(t.Context(), dir)
	<-closed
	if left, err := os.ReadDir(dir); err != nil || len(left) != 0 {
		t.Errorf("left over: %v, %v", left, err)
	}
}

// Of many that lock at once while the file comes and goes, one has it at a time.
func TestFile_Lock(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x"+extension)
	held := make(chan struct{}, 1)
	done := make(chan error)
	for range 8 {
		go func() {
			for range 20 {
				f, err := open(t.Context(), path)
				if err != nil {
					done <- err
					return
				}
				select {
				case held <- struct{}{}:
				default:
					err = errors.New("two hold it")
				}
				<-held
				f.close()
				if err != nil {
					done <- err
					return
				}
			}
			done <- nil
		}()
	}
	for range 8 {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
}

// A lock file that others make and remove all the time is somebody else's, and no failure.
func TestTryLock_ComesAndGoes(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x"+lockExtension)
	stop, ended := make(chan struct{}), make(chan struct{})
	for range 4 {
		go func() {
			defer func() { ended <- struct{}{} }()
			for {
				select {
				case <-stop:
					return
				default:
				}
				if f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600); err == nil {
					_ = f.Close()
				}
				_ = os.Remove(path)
			}
		}()
	}
	for range 5000 {
		f, err := tryLock(path)
		if err != nil {
			t.Error(err)
			break
		}
		if f != nil {
			_ = f.Close()
		}
	}
	close(stop)
	for range 4 {
		<-ended
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(`{"server":{"Flavor":"MySQL"},"changes":[{"Name":"a"}],"holders":[{"pid":1,"needs":["a"]}]}`))
	f.Add([]byte(`{}`))
	f.Add([]byte(`{"holders":`))
	f.Add([]byte(`{"server":{"Flavor":"MySQL"},"changes":[{"Name":"index shop.t.i","Before":"DROP INDEX i ON shop.t"}],"holders":[{"pid":1,"needs":["index shop.t.i"]}]}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		j, err := parse("journal", text)
		if (j == nil) == (err == nil) && err == nil {
			t.Fatal("neither journal nor error")
		}
		if err != nil {
			return
		}
		_ = j.collect(nil, Heirs{}, func(Left) error { return nil })
		j.Pending()
		j.InUse()
		j.renew(mysql.Epoch{})
		for _, c := range j.Pending() {
			if !c.Lasts() {
				t.Errorf("%q is pending after a restart", c.Name)
			}
		}
	})
}

// TestKeepIfPossible: a guard process that may not write keeps nothing, and the journal
// does not wait for it.
func TestKeepIfPossible(t *testing.T) {
	for _, limited := range []bool{false, true} {
		j := Journal{Holders: []Holder{{PID: 1 << 30, Gone: true}}}
		err := j.collect(nil, Heirs{}, keepIfPossible(func(Left) error { return unix.EFBIG }, limited))
		if limited != (err == nil) || limited != (len(j.Holders) == 0) {
			t.Errorf("limited: %t: %v, holders %v", limited, err, j.Holders)
		}
	}
}

// TestTidyReplaced: a journal that was being written when its writer was killed goes.
func TestTidyReplaced(t *testing.T) {
	dir := t.TempDir()
	left := filepath.Join(dir, ".kasoku-new-abc")
	if err := os.Mkdir(left, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(left, "new"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	Tidy(t.Context(), dir)
	if _, err := os.Stat(left); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("it is left: %v", err)
	}
}
