package record

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/report"
	"github.com/kasoku/kasoku/report/recording"
	"github.com/kasoku/kasoku/report/terminal"
	"github.com/kasoku/kasoku/sandbox"
	"github.com/kasoku/kasoku/sandbox/sandboxtest"
)

// TestHalfHour records half an hour of a MariaDB that has work: no tick may be
// lost, and the file must stay small.
func TestHalfHour(t *testing.T) {
	if os.Getenv("KASOKU_LONG") == "" {
		t.Skip("set KASOKU_LONG=1: takes half an hour")
	}
	t.Parallel() // it waits most of the time
	const length = 30 * time.Minute
	s := sandboxtest.MariaDB(t, sandbox.Options{})
	db := sandboxtest.DB(t, s, "")
	sandboxtest.Exec(t, db, "CREATE DATABASE shop", "CREATE TABLE shop.items (id INT PRIMARY KEY AUTO_INCREMENT, name VARCHAR(99))")
	ctx, cancel := context.WithCancel(t.Context())
	worked := make(chan struct{})
	go func() {
		defer close(worked)
		tick := time.NewTicker(5 * time.Millisecond)
		defer tick.Stop()
		for ctx.Err() == nil {
			if err := insert(ctx, db, 1); err != nil && ctx.Err() == nil {
				t.Error(err)
				return
			}
			select {
			case <-tick.C:
			case <-ctx.Done():
			}
		}
	}()
	defer func() { cancel(); <-worked }()

	o := Options{
		Path:     filepath.Join(t.TempDir(), "half.kasoku"),
		Run:      kasoku.Run{Label: "half"},
		Database: Database{MySQL: s.DSN("", ""), SlowLog: true},
		Course:   Course{For: length},
		Sources:  Sources{PIDs: []int{s.Pid()}},
	}
	res, err := Record(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	rec := res.Recording
	for source, name := range map[string]string{"host": "cpu.user", "mysql": "Questions", "process": "count"} {
		x := rec.Find(kasoku.Key{Source: source, Name: name})
		if want := int(length/time.Second) - 1; x == nil || len(x.Points) < want {
			t.Errorf("%s %s: not all of %d ticks", source, name, want)
		}
	}
	if len(rec.Gaps) > 0 {
		t.Errorf("gaps %v", rec.Gaps)
	}
	st, err := os.Stat(o.Path)
	if err != nil {
		t.Fatal(err)
	}
	if most := int64(5 << 20); st.Size() > most { // a twelfth of what six hours may take
		t.Errorf("the file takes %d bytes, %d are allowed", st.Size(), most)
	}
	began := time.Now()
	if err := terminal.Write(io.Discard, recording.Show(rec, report.Options{}), terminal.Options{Width: 80}); err != nil {
		t.Fatal(err)
	}
	t.Logf("%d series: %.2f MB, reported in %v", len(rec.Series), float64(st.Size())/1e6, time.Since(began).Round(time.Millisecond))
}
