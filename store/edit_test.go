package store

import (
	"bytes"
	"errors"
	"path/filepath"
	"testing"

	"github.com/kasoku/kasoku"
)

func TestEdit(t *testing.T) {
	path := tempRun(t)
	want := anyRecording(3)
	if err := Write(path, want); err != nil {
		t.Fatal(err)
	}
	e, err := Edit(path)
	if err != nil {
		t.Fatal(err)
	}
	other := anyRecording(4)
	want.Run.Label, want.Run.Note = "pool-1000", "with \x00 and 日本"
	want.Diagnosis, want.Warnings = other.Diagnosis, other.Warnings
	want.Plans, want.Tables, want.Advice = other.Plans, other.Tables, other.Advice
	err = errors.Join(e.SetLabel(want.Run.Label), e.SetNote(want.Run.Note), e.SaveDiagnosis(want.Diagnosis),
		e.SaveWarnings(want.Warnings), e.SavePlans(want.Plans, want.Tables), e.SaveAdvice(want.Advice), e.Close())
	if err != nil {
		t.Fatal(err)
	}
	if d := difference(mustOpen(t, path), want); d != "" {
		t.Error(d)
	}
	if got := Describe(path).Verdict; got != want.Diagnosis.Verdict {
		t.Errorf("verdict %q, want %q", got, want.Diagnosis.Verdict)
	}
	if got := files(t, filepath.Dir(path)); len(got) != 1 {
		t.Errorf("files left: %v", got)
	}
}

func TestEditRemovesDiagnosis(t *testing.T) {
	path := tempRun(t)
	if err := Write(path, anyRecording(3)); err != nil {
		t.Fatal(err)
	}
	e, err := Edit(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(e.SaveDiagnosis(nil), e.Close()); err != nil {
		t.Fatal(err)
	}
	if rec := mustOpen(t, path); rec.Diagnosis != nil || rec.Damage != nil || Describe(path).Verdict != "" {
		t.Errorf("%+v, damage %v", rec.Diagnosis, rec.Damage)
	}
	if n := query[int](t, path, "SELECT count(*) FROM evidence") + query[int](t, path, "SELECT count(*) FROM raw_evidence"); n != 0 {
		t.Errorf("%d rows of evidence left", n)
	}
}

func TestEditWhileRecording(t *testing.T) {
	for _, by := range []recorder{thisProcess(), {}} {
		path := tempRun(t)
		w, err := create(path, sampleRun(), by, 0)
		if err != nil {
			t.Fatal(err)
		}
		defer w.Close()
		mustFrames(t, w, simulate(10).tick(1))
		if _, err := Edit(path); !errors.Is(err, ErrBusy) || hint(err) == "" {
			t.Errorf("error %v, hint %q", err, hint(err))
		}
	}
}

func TestEditAfterCrash(t *testing.T) {
	path := crash(t, t.TempDir(), 5)
	e, err := Edit(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(e.SetNote("the machine hung"), e.Close()); err != nil {
		t.Fatal(err)
	}
	rec := mustOpen(t, path)
	if rec.Run.Note != "the machine hung" || rec.Run.State != kasoku.Incomplete || ticksOf(t, rec) != 5 {
		t.Errorf("%+v", rec.Run)
	}
}

// TestEditKeepsDamage changes a damaged file: what was lost before must still be
// reported after.
func TestEditKeepsDamage(t *testing.T) {
	path := tempRun(t)
	record(t, path, 20, 5)
	execute(t, path, "UPDATE series SET unit = 'ms'")
	e, err := Edit(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(e.SetLabel("x"), e.Close()); err != nil {
		t.Fatal(err)
	}
	if rec := mustOpen(t, path); len(rec.Damage) != 1 {
		t.Errorf("damage %v", rec.Damage)
	}
}

func TestEdit_Failure(t *testing.T) {
	path := tempRun(t)
	if _, err := Edit(path); !errors.Is(err, ErrNotFound) {
		t.Errorf("error %v", err)
	}
	mustWrite(t, path, bytes.Repeat([]byte("x"), 1000))
	if _, err := Edit(path); !errors.Is(err, ErrNotRun) {
		t.Errorf("error %v", err)
	}
}

// TestForeignKeys checks that a pragma of the name holds on every connection.
func TestForeignKeys(t *testing.T) {
	path := tempRun(t)
	record(t, path, 10, 1)
	for _, m := range []mode{recording, editing, reading, immutable} {
		for range 2 {
			db, err := connect(path, m)
			if err != nil {
				t.Fatal(err)
			}
			defer db.Close()
			if on, err := pragmaInt(db, "foreign_keys"); on != 1 || err != nil {
				t.Errorf("mode %d: foreign_keys %d, %v", m, on, err)
			}
		}
	}
	db, err := connect(path, editing)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec("INSERT INTO raw_query (id, sample) VALUES (7, 'x')"); err == nil {
		t.Error("a sample without its query was taken")
	}
}
