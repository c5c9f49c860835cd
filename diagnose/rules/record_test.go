//go:build extract

package rules

import (
	"encoding/json"
	"flag"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/diagnose"
	"github.com/kasoku/kasoku/labs/userapi"
	"github.com/kasoku/kasoku/record"
	"github.com/kasoku/kasoku/sandbox"
	"github.com/kasoku/kasoku/sandbox/sandboxtest"
)

var only = flag.String("only", "", "record only these cases, `NAMES` with commas")

// A recorded is one run that is made for the rules, and what is kept of it.
type recorded struct {
	name     string
	m        measuredCase
	baseline string // name of an earlier one to compare with
	keep     string // "POOL-01/fires DRV-01/silent"
}

// TestRecordCases makes all runs that testdata keeps, on both servers:
//
//	go test -tags extract ./diagnose/rules -run TestRecordCases -timeout 30m
//
// With -args -only seeded,tuned only those.
func TestRecordCases(t *testing.T) {
	sandboxtest.Each(t, sandbox.Options{}, func(t *testing.T, s *sandbox.Server) {
		done := map[string]*kasoku.Recording{}
		for _, r := range runs() {
			if *only != "" && !named(r.name) {
				continue
			}
			t.Run(r.name, func(t *testing.T) { done[r.name] = r.record(t, s, done[r.baseline]) })
		}
	})
}

func named(name string) bool {
	for n := range strings.SplitSeq(*only, ",") {
		if n == name {
			return true
		}
	}
	return false
}

// record makes the run, checks what the rules say of it and keeps the extracts.
func (r recorded) record(t *testing.T, s *sandbox.Server, baseline *kasoku.Recording) *kasoku.Recording {
	rec := measure(t, s, r.m)
	wrong := r.wrong(rec, baseline)
	for _, w := range wrong {
		t.Error(w)
	}
	r.keepAll(t, s, rec, baseline, wrong)
	return rec
}

// wrong describes which rules do not do what is wanted of them.
func (r recorded) wrong(rec, baseline *kasoku.Recording) (out []string) {
	c := diagnose.NewCase(rec, baseline)
	for want := range strings.FieldsSeq(r.keep) {
		id, kind, _ := strings.Cut(want, "/")
		if w := wrongCase(c, id, kind); w != "" {
			out = append(out, want+" "+w)
		}
	}
	return out
}

// wrongCase describes how a rule does not do what is wanted of it, nothing when it does.
func wrongCase(c *diagnose.Case, id, kind string) string {
	for _, rule := range All() {
		if rule.ID() != id {
			continue
		}
		found, silent := rule.Check(c)
		switch {
		case kind == "fires" && len(found) == 0:
			return fmt.Sprintf("is silent: %+v", silent)
		case kind != "fires" && len(found) > 0:
			return fmt.Sprintf("speaks: %s: %s", found[0].Title, found[0].Cause)
		case kind == "silent" && silent[0].Blind, kind == "under" && !isUnder(id, silent[0]):
			return fmt.Sprintf("is %+v", silent[0])
		}
		return ""
	}
	return "is no rule"
}

func (r recorded) keepAll(t *testing.T, s *sandbox.Server, rec, baseline *kasoku.Recording, wrong []string) {
	config, err := json.Marshal(r.m.service)
	if err != nil {
		t.Fatal(err)
	}
	version, _ := rec.Setting("mysql", "version")
	name := map[string]string{sandbox.KindMariaDB: "mariadb", sandbox.KindMySQL97: "mysql"}[s.Kind]
	title := diagnose.NewCase(rec, nil).Server()
	origin := fmt.Sprintf("recorded: %s, %s %s, go test -tags extract ./diagnose/rules -run TestRecordCases/%s -args -only %s\n",
		rec.Run.Started.Format(time.DateOnly), title, version, s.Kind, strings.Trim(r.baseline+","+r.name, ","))
	if r.baseline == "" {
		origin += fmt.Sprintf("service: %s, max_connections %d\n", config, r.m.maxConnections)
	}
	for want := range strings.FieldsSeq(r.keep) {
		id, kind, _ := strings.Cut(want, "/")
		if strings.Contains(strings.Join(wrong, "\n"), want) {
			continue
		}
		keepExtract(t, rec, baseline, id, kind+"/"+name+"-"+r.name, origin+r.object(id, kind))
	}
}

// object is the line that wants a finding to be about the right thing.
func (r recorded) object(id, kind string) string {
	endpoint, table := "POST /v2/transfers", "entries"
	if r.m.service.Lab {
		endpoint, table = "POST /users", "users"
	}
	if kind != "fires" {
		return ""
	}
	return "want: " + map[string]string{
		"DRV-01": "process ", "MES-07": "endpoint " + endpoint, "DRV-04": "table " + table, "MES-04": "table " + table,
		"DRV-05": "log journal.log", "POOL-01": "pool idle connections", "POOL-02": "variable max_connections",
		"POOL-03": "pool pool.max_idle", "POOL-04": "pool connections", "HW-05": "process kasoku nethttp",
		"HW-01": "process m", "HW-02": "host CPU", "HW-06": "limit memory", "HW-07": "in one second", "HW-10": "memory beside the service", "OS-01": "open files of ledger",
		"OS-02": "control group ledger.service", "OS-04": "control group ledger.service", "MES-06": "run sampling interval",
	}[id] + "\n"
}

// runs are the cases. Rates are low and steps short: what a rule looks at are
// ratios, which need no great load.
func runs() []recorded {
	var broke float64
	const every = "POOL-01 POOL-02 POOL-04 DRV-01 DRV-04 DRV-05 MES-07"
	as := func(kind string) string { return strings.ReplaceAll(every, " ", "/"+kind+" ") + "/" + kind }
	all := userapi.Seeded()
	lab := func(d userapi.Defects, idle, limit int, next func([]record.Done) (float64, bool)) measuredCase {
		return measuredCase{service: serviceConfig{Lab: true, Defects: d, MaxIdle: idle}, maxConnections: limit, next: next,
			each: 4 * time.Second, settings: userapi.Settings(d, idle), slowLog: true}
	}
	own := func(c serviceConfig, limit int, rates ...float64) measuredCase {
		return measuredCase{service: c, maxConnections: limit, next: record.Climb(rates...), each: 5 * time.Second, slowLog: true,
			settings: []kasoku.Setting{{Scope: "app", Name: "idleConnections", Value: fmt.Sprint(c.MaxIdle)}}}
	}
	with := func(m measuredCase, change func(*measuredCase)) measuredCase { change(&m); return m }
	ms := time.Millisecond
	return append(hostRuns(), []recorded{
		{name: "seeded", m: lab(all, 0, 151, doubling(&broke)), keep: as("fires") + " MES-04/under"},
		{name: "tuned", m: lab(userapi.Tuned(), 0, 300, record.Climb(200, 600)), keep: as("silent") + " MES-04/silent HW-05/silent"},
		{name: "other-names", m: with(own(badLedger(), ledgerLimit), func(m *measuredCase) { m.next = doubling(&broke) }),
			keep: "POOL-02/fires DRV-01/fires DRV-05/fires MES-07/fires"},
		// A cap keeps away from the server's limit, two idle connections do not suffice.
		{name: "idle-only", m: own(serviceConfig{MaxOpen: 22, Hold: 50 * ms}, 30, 50, 400),
			keep: "POOL-01/fires POOL-02/silent POOL-04/under DRV-01/silent"},
		// As many idle connections as are wanted, more than the server allows.
		{name: "uncapped-only", m: own(serviceConfig{MaxIdle: 200, Hold: 100 * ms}, 40, 50, 600),
			keep: "POOL-01/silent POOL-02/fires POOL-04/silent MES-07/fires MES-04/silent"},
		{name: "almost-full", m: own(serviceConfig{MaxOpen: 135, MaxIdle: 135, Warm: 135, Reconnect: 0.18}, 151, 200),
			keep: "POOL-01/under POOL-02/under"},
		{name: "half-prepared", m: own(serviceConfig{MaxOpen: 10, MaxIdle: 10, Kept: 0.54, Prepare: 1}, 151, 400), keep: "DRV-01/under"},
		{name: "half-saved", m: own(serviceConfig{MaxOpen: 10, MaxIdle: 10, Save: 0.46, LogSQL: 0.47, Fail: 0.009}, 151, 400),
			keep: "DRV-04/under DRV-05/under MES-07/under"},
		{name: "few-saved", m: own(serviceConfig{MaxOpen: 10, MaxIdle: 10, Save: 0.1, LogSQL: 0.1, Fail: 0.05, Mute: true}, 151, 300),
			keep: "DRV-04/silent DRV-05/silent MES-07/silent"},
		{name: "dropped", m: own(serviceConfig{MaxOpen: 10, MaxIdle: 10, Drop: 0.02}, 151, 200), keep: "MES-04/fires"},
		{name: "doubled", m: own(serviceConfig{MaxOpen: 10, MaxIdle: 10, Twice: 0.02, Fail: 0.03}, 151, 200), keep: "MES-04/fires MES-07/fires"},

		{name: "idle-1000", m: lab(userapi.Defects{"POOL-02"}, 1000, 151, record.Climb(300))},
		{name: "idle-10000", baseline: "idle-1000", m: lab(userapi.Defects{"POOL-02"}, 10_000, 151, record.Climb(300)), keep: "POOL-03/fires"},
		{name: "idle-same", baseline: "idle-1000", m: lab(userapi.Defects{"POOL-02"}, 1000, 151, record.Climb(300)), keep: "POOL-03/silent"},
		{name: "more-changed", baseline: "idle-1000", m: lab(userapi.Tuned(), 0, 300, record.Climb(300)), keep: "POOL-03/silent"},
		// 80 requests go on at once, and all but 2 open a connection first.
		{name: "idle-2", m: own(serviceConfig{MaxOpen: 100, MaxIdle: 2, Hold: 50 * ms}, 151, 1600)},
		{name: "idle-100", baseline: "idle-2", m: own(serviceConfig{MaxOpen: 100, MaxIdle: 100, Hold: 50 * ms}, 151, 1600), keep: "POOL-03/silent"},

		{name: "one-core", m: with(own(serviceConfig{}, 151), func(m *measuredCase) {
			m.target, m.procs, m.each, m.next = "GET /v2/ping", 1, 3*time.Second, untilLate
		}), keep: "HW-05/fires"},
		{name: "capped", m: with(own(serviceConfig{MaxOpen: 4, MaxIdle: 4, Hold: 100 * ms}, 151, 200), func(m *measuredCase) { m.inFlight = 50 }),
			keep: "HW-05/silent"},
	}...)
}

// untilLate climbs by a quarter from 6,000 requests a second until the generator
// is late.
func untilLate(done []record.Done) (float64, bool) {
	if len(done) == 0 {
		return 6000, true
	}
	last := done[len(done)-1]
	return 1.25 * last.Step.PerSec, last.Tally.SendDelay.Mean() < 2*time.Millisecond && last.Step.PerSec < 60_000
}
