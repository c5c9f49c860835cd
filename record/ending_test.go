package record

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/internal/contain"
	"github.com/kasoku/kasoku/internal/test/smalldisk"
	"github.com/kasoku/kasoku/internal/test/turn"
	"github.com/kasoku/kasoku/internal/unit"
	"github.com/kasoku/kasoku/sandbox"
	"github.com/kasoku/kasoku/sandbox/sandboxtest"
)

// TestEndOfSampling: who asks again why the sampler ended does not wait for ever.
func TestEndOfSampling(t *testing.T) {
	s := newSession(quick(t), nil)
	if err := s.sampling.end(); err != nil {
		t.Errorf("before it began: %v", err)
	}
	s.sampling.halt, s.sampling.sampled = func() {}, make(chan error)
	close(s.sampling.sampled)
	if err := s.sampling.end(); err != nil {
		t.Errorf("asked again: %v", err)
	}
}

// TestEnd_Panics: a panic between two parts of the end is an error of the run, which does
// not wait for ever, and the server is put back.
func TestEnd_Panics(t *testing.T) {
	s := sandboxtest.MariaDB(t, sandbox.Options{})
	db := sandboxtest.DB(t, s, "")
	before := globals(t, db)
	o := quick(t)
	o.MySQL, o.SlowLog = s.DSN("", ""), true
	o.OnProgress = func(p Progress) {
		if strings.HasPrefix(p.Text, "database: does it answer") {
			panic("planted")
		}
	}
	ended := make(chan error, 1)
	go func() {
		_, err := Record(t.Context(), o)
		ended <- err
	}()
	select {
	case err := <-ended:
		var bug *contain.Bug
		if !errors.As(err, &bug) || bug.Part.Name != "close" {
			t.Errorf("%v", err)
		}
	case <-time.After(time.Minute):
		t.Fatal("the run does not end")
	}
	unchanged(t, db, before)
}

// TestBrake_FullAtOnce: the disk of the slow log is full before the brake looks again.
// MariaDB answers that it cannot switch the log off, and has done it: the run says what
// is so.
func TestBrake_FullAtOnce(t *testing.T) {
	turn.Wait(t)
	disk := smalldisk.Mount(t, "4m")
	if err := os.Chmod(disk, 0o777); err != nil {
		t.Fatal(err)
	}
	s := sandboxtest.MariaDB(t, sandbox.Options{Vars: map[string]string{"slow_query_log_file": filepath.Join(disk, "slow.log")}})
	db := sandboxtest.DB(t, s, "")
	before := globals(t, db)
	o := quick(t)
	o.MySQL, o.SlowLog, o.For, o.MinFree = s.DSN("", ""), true, time.Second, &unit.Least{Ratio: 1, Bytes: 500e3}
	o.Prepare = during(func() error {
		smalldisk.Fill(t, disk, 0)
		return nil
	})
	rec := mustRecord(t, o)
	if w := warned(rec, "slow-log-braked"); w.Text == "" {
		t.Errorf("the slow log was not put back: %+v", rec.Warnings)
	}
	for _, g := range rec.Gaps {
		if strings.Contains(g.Reason, "could not be put back") {
			t.Errorf("said to be on though it is off: %+v", g)
		}
	}
	for _, c := range rec.Changes {
		if !c.Restored {
			t.Errorf("%+v", c)
		}
	}
	unchanged(t, db, before)
}

// TestEnd_Answers: what is known of the answers at the end is kept beside the other settings.
func TestEnd_Answers(t *testing.T) {
	o := quick(t)
	o.Settings = append(o.Settings, kasoku.Setting{Scope: "app", Name: "pool", Value: "8"})
	o.Answers = func(context.Context) (kasoku.ComparedAnswers, error) { return kasoku.ComparedAnswers{Asked: 3}, nil }
	res, err := Record(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	if got, ok := res.Recording.ComparedAnswers(); !ok || got.Asked != 3 {
		t.Errorf("answers %+v", got)
	}
	if v, _ := res.Recording.Setting("app", "pool"); v != "8" {
		t.Errorf("settings %+v", res.Recording.Settings)
	}
}
