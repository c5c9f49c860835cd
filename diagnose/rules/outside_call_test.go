package rules

import (
	"testing"
	"time"

	"github.com/kasoku/kasoku/diagnose"
	"github.com/kasoku/kasoku/diagnose/rules/lock"
)

// TestOutsideCall_Few: five calls are enough where each was made while rows were locked and took 20 ms; else 20.
func TestOutsideCall_Few(t *testing.T) {
	for _, tt := range []struct {
		calls, locked uint64
		each          time.Duration
		fires         bool
	}{
		{5, 5, 20 * time.Millisecond, true},
		{4, 4, 20 * time.Millisecond, false},
		{5, 5, 19 * time.Millisecond, false},
		{6, 5, 20 * time.Millisecond, false}, // one was not
		{20, 20, 19 * time.Millisecond, true},
		{19, 19, 19 * time.Millisecond, false},
	} {
		rec := recordedCase(t, "testdata/LCK-05/fires/mariadb-held.txtar")
		tr := &rec.Traces[0]
		for i := range tr.Externals {
			x := &tr.Externals[i]
			x.Calls, x.Locked, x.LockedTime = tt.calls, tt.locked, time.Duration(tt.locked)*tt.each
		}
		for i := range tr.Endpoints {
			tr.Endpoints[i].Time = time.Second / time.Duration(len(tr.Endpoints))
		}
		found, silent := lock.OutsideCall{}.Check(diagnose.NewCase(rec, nil))
		if len(found) > 0 != tt.fires {
			t.Errorf("%+v: %d findings, %+v", tt, len(found), silent)
		}
	}
}
