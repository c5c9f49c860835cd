package record

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/internal/test/turn"
	"github.com/kasoku/kasoku/report"
	"github.com/kasoku/kasoku/report/recording"
	"github.com/kasoku/kasoku/report/terminal"
	"github.com/kasoku/kasoku/sandbox"
	"github.com/kasoku/kasoku/sandbox/sandboxtest"
)

// TestSample: MariaDB's slow log holds 1 of so many statements, and the run says so
// wherever they count; MySQL refuses before anything is changed. All is put back.
func TestSample(t *testing.T) {
	turn.Wait(t)
	sandboxtest.Each(t, sandbox.Options{}, func(t *testing.T, s *sandbox.Server) {
		db := sandboxtest.DB(t, s, "")
		sandboxtest.Exec(t, db, "CREATE DATABASE shop", "CREATE TABLE shop.items (id INT PRIMARY KEY AUTO_INCREMENT, name VARCHAR(99))")
		before := globals(t, db)
		defer unchanged(t, db, before)
		o := quick(t)
		o.MySQL, o.SlowLog, o.Sample = s.DSN("", "shop"), true, 10
		o.AccessLog = filepath.Join(t.TempDir(), "access.log")
		var limit string
		l := logged{T: t, s: s, db: db}
		o.Prepare = func(context.Context, Watch) error {
			limit = globals(t, db)["log_slow_rate_limit"]
			app, _ := l.session()
			return insert(t.Context(), app, 2000)
		}
		if err := add(o.AccessLog, ""); err != nil {
			t.Fatal(err)
		}
		if _, has := before["log_slow_rate_limit"]; !has { // MySQL
			_, err := Record(t.Context(), o)
			if err == nil || !strings.Contains(err.Error(), "1 of 10 statements") || !strings.Contains(hint(err), "Percona") {
				t.Errorf("%v, hint %q", err, hint(err))
			}
			return
		}
		checkSampled(t, mustRecord(t, o), limit)
	})
}

// TestSample_Other: while a run samples, one with another sample is refused, one without
// goes on without the slow log, and one with the same sample gets it.
func TestSample_Other(t *testing.T) {
	turn.Wait(t)
	t.Parallel()
	s := sandboxtest.MariaDB(t, sandbox.Options{})
	db := sandboxtest.DB(t, s, "")
	before := globals(t, db)
	state := &Guard{Dir: filepath.Join(t.TempDir(), "state")}
	with := func(sample int) Options {
		o := quick(t)
		o.MySQL, o.SlowLog, o.Sample, o.Guard = s.DSN("", ""), true, sample, state
		return o
	}
	first := with(10)
	first.Prepare = during(func() error {
		other := with(7)
		_, err := Record(t.Context(), other)
		if err == nil || !strings.Contains(err.Error(), "log_slow_rate_limit is 10 for another recording") ||
			!strings.Contains(hint(err), "same --mysql-sample") {
			t.Errorf("another sample: %v, hint %q", err, hint(err))
		}
		if _, err := os.Stat(other.Path); err == nil {
			t.Error("the run that was refused has a file")
		}
		if w := warned(mustRecord(t, with(0)), "no-slow-log"); !strings.Contains(w.Text, "for another recording") {
			t.Errorf("without a sample: %+v", w)
		}
		if w := warned(mustRecord(t, with(10)), CodeSampled); w.Text == "" {
			t.Error("the same sample is refused")
		}
		if limit := globals(t, db)["log_slow_rate_limit"]; limit != "10" {
			t.Errorf("log_slow_rate_limit is %s for the first run", limit)
		}
		return nil
	})
	mustRecord(t, first)
	unchanged(t, db, before)
	// And one that takes all is not cut down by a sample.
	whole := with(0)
	whole.Prepare = during(func() error {
		if _, err := Record(t.Context(), with(10)); err == nil || !strings.Contains(err.Error(), "for another recording") {
			t.Errorf("a sample of a run that takes all: %v", err)
		}
		return nil
	})
	mustRecord(t, whole)
	unchanged(t, db, before)
}

func checkSampled(t *testing.T, rec *kasoku.Recording, limit string) {
	t.Helper()
	if limit != "10" {
		t.Errorf("log_slow_rate_limit was %q during the run", limit)
	}
	var n uint64
	for _, q := range rec.Queries {
		n += q.Calls
	}
	if n < 150 || n > 250 { // the server counts the statements of all sessions
		t.Errorf("%d statements were logged of 2,000, want a tenth", n)
	}
	if w := warned(rec, CodeSampled); !strings.Contains(w.Text, "1 of 10 statements") {
		t.Errorf("%+v", rec.Warnings)
	}
	if w := warned(rec, "slow-log-partial"); w.Text != "" {
		t.Errorf("%+v", w)
	}
	if v, ok := rec.Setting(kasoku.SampleScope, kasoku.SampleName); !ok || v != "10" {
		t.Errorf("setting %q", v)
	}
	if len(rec.Joins) != 1 || !strings.Contains(rec.Joins[0].Refused, "1 of 10 statements") || len(rec.Callers)+len(rec.Transactions)+len(rec.Saves) > 0 {
		t.Errorf("joins %+v, %d callers, %d transactions, %d saves", rec.Joins, len(rec.Callers), len(rec.Transactions), len(rec.Saves))
	}
	var shown strings.Builder
	if err := terminal.Write(&shown, recording.Show(rec, report.Options{}), terminal.Options{Width: 200}); err != nil {
		t.Error(err)
	}
	if n := strings.Count(shown.String(), "1 of 10 statements"); n < 2 {
		t.Errorf("shown %d times\n%s", n, shown.String())
	}
	for _, c := range rec.Changes {
		if c.Name == "log_slow_rate_limit" && (c.During != "10" || !c.Restored) {
			t.Errorf("%+v", c)
		}
	}
}

// What a sample contradicts is refused.
func TestSample_Options(t *testing.T) {
	t.Parallel()
	good := Options{Path: "a.kasoku", Database: Database{MySQL: "root@/", SlowLog: true, Sample: 10}}
	for want, change := range map[string]func(o *Options){
		"":                    func(*Options) {},
		"want 1 or more":      func(o *Options) { o.Sample = -1 },
		"not switched on":     func(o *Options) { o.SlowLog = false },
		`join "tail"`:         func(o *Options) { o.Join = JoinTail },
		"contradicts the pro": func(o *Options) { o.Probe = &Probe{} },
	} {
		o := good
		change(&o)
		err := o.validateSample()
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", want, err)
		}
	}
}
