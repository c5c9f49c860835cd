package rules

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/diagnose"
	"github.com/kasoku/kasoku/internal/test/turn"
	"github.com/kasoku/kasoku/record"
	"github.com/kasoku/kasoku/sandbox"
	"github.com/kasoku/kasoku/sandbox/sandboxtest"
)

// ledgerLimit is a limit of connections that no server has by default.
const ledgerLimit = 90

// badLedger has the lab's five defects under other names: another path, table,
// key, schema, and other formats of both logs.
func badLedger() serviceConfig { return serviceConfig{Prepare: 1, Save: 1, LogSQL: 1} }

func goodLedger() serviceConfig { return serviceConfig{MaxOpen: 60, MaxIdle: 60, Warm: 10} }

// doubling climbs from 200 requests a second to twice the rate until a step
// breaks, at most to 25,600.
func doubling(broke *float64) func([]record.Done) (float64, bool) {
	return func(done []record.Done) (float64, bool) {
		if len(done) == 0 {
			return 200, true
		}
		last := done[len(done)-1]
		if last.Tally.SuccessRatio() < 0.9 {
			*broke = last.Step.PerSec
			return 0, false
		}
		return 2 * last.Step.PerSec, last.Step.PerSec < 25_000
	}
}

// TestSecondService: what the rules name comes from the evidence, so that a
// service of which none of them can know is diagnosed as well.
func TestSecondService(t *testing.T) {
	turn.Wait(t)
	// Saving without looking locks gaps in front of new rows: where commits are slow, deadlocks
	// broke the first step before connections could run out.
	vars := map[string]string{"transaction_isolation": "READ-COMMITTED"}
	sandboxtest.Each(t, sandbox.Options{Vars: vars}, func(t *testing.T, s *sandbox.Server) {
		var broke float64
		bad := measure(t, s, measuredCase{
			service: badLedger(), maxConnections: ledgerLimit, next: doubling(&broke), each: 3 * time.Second, slowLog: true,
		})
		checkBadLedger(t, bad)
		if broke == 0 {
			t.Fatal("no step broke")
		}
		good := measure(t, s, measuredCase{ // alone: what else runs here, as the tests of other packages, is not the service's
			service: goodLedger(), maxConnections: ledgerLimit, next: record.Climb(200, broke), each: 3 * time.Second, slowLog: true, alone: true,
		})
		for _, f := range diagnose.Diagnose(diagnose.NewCase(good, nil), All()).Findings {
			// A durable commit for each row is what the good service does, too, with a
			// server as it is shipped.
			if f.Severity == kasoku.Problem && !slices.Contains([]string{"DBC-01", "DBC-02", "DBC-09"}, f.ID) {
				t.Errorf("good service: %s %s: %s", f.ID, f.Title, text(&kasoku.Diagnosis{Findings: []kasoku.Finding{f}}))
			}
		}
	})
}

func checkBadLedger(t *testing.T, rec *kasoku.Recording) {
	t.Helper()
	d := diagnose.Diagnose(diagnose.NewCase(rec, nil), All())
	got := map[string]string{}
	for _, f := range d.Findings {
		got[f.ID] = f.Object.String()
	}
	for id, object := range map[string]string{
		"POOL-01": "pool idle connections",
		"POOL-02": "variable max_connections",
		"DRV-01":  "process rules.test",
		"DRV-04":  "table entries",
		"DRV-05":  "log journal.log",
	} {
		if got[id] != object {
			t.Errorf("%s: object %q, want %q", id, got[id], object)
		}
	}
	if !strings.Contains(d.Verdict, "beyond 90") {
		t.Errorf("verdict %q", d.Verdict)
	}
	if t.Failed() {
		t.Log(text(d))
	}
}
