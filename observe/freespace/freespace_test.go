package freespace

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/internal/test/smalldisk"
	"github.com/kasoku/kasoku/internal/unit"
	"github.com/kasoku/kasoku/observe"
	"github.com/kasoku/kasoku/observe/observetest"
)

var _ observe.EventSource = (*Source)(nil)

// TestSource fills a real disk: Low is called until it has done something, and
// never after that.
func TestSource(t *testing.T) {
	dir := smalldisk.Mount(t, "1m")
	log := filepath.Join(dir, "slow.log")
	calls := 0
	s := New(Options{Dirs: []string{dir, "/no/such"}, Log: log, Least: unit.Least{Ratio: 0.5, Bytes: 1e9},
		Low: func(_ context.Context, at Room) (string, error) {
			if calls++; calls == 1 {
				return "", errors.New("the server is away")
			}
			if at.Dir != dir || at.Free >= 512<<10 || at.Least != 512<<10 || at.PerSec <= 0 {
				t.Errorf("%+v", at)
			}
			return "stopped", nil
		}})
	tick := func() (f kasoku.Frame, err error) {
		err = s.Collect(t.Context(), &f)
		return f, err
	}
	if f, err := tick(); err != nil || len(f.Samples) != 1 || f.Samples[0].Name != "free" || calls != 0 {
		t.Fatalf("%+v, %v", f, err)
	}
	var all []kasoku.Sample
	for _, size := range []int{1, 600 << 10, 601 << 10, 602 << 10} {
		if err := os.WriteFile(log, make([]byte, size), 0o600); err != nil {
			t.Fatal(err)
		}
		f, err := tick()
		all = append(all, f.Samples...)
		if failed := size == 600<<10; failed != (err != nil) {
			t.Errorf("%d bytes: %v", size, err)
		}
	}
	observetest.Sampled(t, &Declared, all, nil)
	if e := s.Events(); calls != 2 || len(e) != 1 || e[0].Kind != "brake" || e[0].Text != "stopped" || len(s.Events()) != 0 {
		t.Errorf("%d calls, events %+v", calls, e)
	}
}
