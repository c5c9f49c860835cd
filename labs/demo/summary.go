package demo

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/internal/private"
	"github.com/kasoku/kasoku/internal/unit"
	"github.com/kasoku/kasoku/labs/userapi"
)

// Summary is what the story came to; summary.json holds it. The field names
// are a contract for scripts.
type Summary struct {
	BrokenPerSec float64      `json:"broken_per_sec"` // the asked rate that broke, 0 when none did
	Before       Side         `json:"before"`
	After        Side         `json:"after"`
	Seeded       int          `json:"seeded"` // how many defects were
	Tries        []TrySummary `json:"tries"`
	RowsMatch    bool         `json:"rows_match"` // rows added equal the 200s, in both runs
	Machine      Machine      `json:"machine"`
	Failures     []string     `json:"failures"` // what the fixed run did not hold; empty when the story is proven
	Files        []string     `json:"files"`
}

// Side is one run at the step that broke.
type Side struct {
	File     string    `json:"file"`
	Success  float64   `json:"success"` // ratio 0..1 at the step that broke
	P50      float64   `json:"p50_ms"`
	P99      float64   `json:"p99_ms"`
	Requests uint64    `json:"requests"` // of the whole run
	OK       uint64    `json:"ok"`       // of the whole run
	Rows     int64     `json:"rows"`     // added to the table in the whole run
	Findings []Finding `json:"findings"`
}

// Finding is one finding in short.
type Finding struct {
	ID         string  `json:"id"`
	Object     string  `json:"object"`
	Confidence string  `json:"confidence"`
	Severity   string  `json:"severity"`
	Impact     float64 `json:"impact"`
	Title      string  `json:"title"`
}

// TrySummary is one fix tried alone.
type TrySummary struct {
	ID      string  `json:"id"`
	What    string  `json:"what"`
	Verdict string  `json:"verdict"`
	Success float64 `json:"success"`
	P99     float64 `json:"p99_ms"`
}

// Machine is where the story ran.
type Machine struct {
	Host     string `json:"host"`
	Cores    int    `json:"cores"`
	Memory   uint64 `json:"memory_bytes"`
	OS       string `json:"os"`
	Kernel   string `json:"kernel"`
	Database string `json:"database"`
}

// Proven reports whether the fix held what was promised.
func (s *Summary) Proven() bool {
	return s.BrokenPerSec > 0 && len(s.Failures) == 0 && s.After.File != ""
}

// finish sums up as far as the story got and writes summary.json.
func (s *story) finish(err error) (Summary, error) {
	sum := Summary{BrokenPerSec: s.broken, Seeded: len(userapi.Seeded()), Tries: []TrySummary{}, Failures: []string{},
		Files: []string{}}
	if s.before != nil {
		sum.Before = s.side(s.before, "before")
		sum.Machine = machineOf(s.before)
	}
	if s.after != nil {
		sum.After = s.side(s.after, "after")
	}
	for _, t := range s.tries {
		sum.Tries = append(sum.Tries, TrySummary{t.ID, t.What, string(t.Effect.Verdict), t.Effect.Success.After.Value,
			t.Effect.P99.After.Value * 1000})
	}
	sum.RowsMatch = rowsMatch(s.before) && rowsMatch(s.after)
	if err == nil {
		sum.Failures = s.failures(&sum)
	} else { // what was measured until then proves nothing
		sum.Failures = append(sum.Failures, "the story did not come to its end: "+err.Error())
	}
	for _, f := range []string{sum.Before.File, sum.After.File} {
		if f != "" {
			sum.Files = append(sum.Files, f)
		}
	}
	b, jsonErr := json.MarshalIndent(sum, "", "  ")
	if jsonErr == nil {
		jsonErr = private.Output.WriteFile(filepath.Join(s.o.Dir, "summary.json"), append(b, '\n'))
	}
	if err == nil && jsonErr != nil {
		err = fmt.Errorf("write summary: %w", jsonErr)
	}
	return sum, err
}

// failures lists what the fixed run did not hold.
func (s *story) failures(sum *Summary) []string {
	out := []string{}
	if sum.After.Success < fixedSuccess {
		out = append(out, fmt.Sprintf("after the fixes %s of requests at %s succeed; %s were promised",
			unit.Percent(sum.After.Success), printRate(s.broken), unit.Percent(fixedSuccess)))
	}
	if sum.After.P99 > sum.Before.P99*fixedP99Ratio {
		out = append(out, fmt.Sprintf("p99 at %s went from %s to %s ms; a third was promised",
			printRate(s.broken), unit.Sig3(sum.Before.P99), unit.Sig3(sum.After.P99)))
	}
	var missed []string
	for _, id := range userapi.Seeded() {
		if !hasFinding(sum.Before.Findings, id) {
			missed = append(missed, id)
		}
	}
	if len(missed) > 0 {
		out = append(out, "the diagnosis missed what was seeded: "+strings.Join(missed, ", "))
	}
	if !sum.RowsMatch {
		out = append(out, "the table's rows do not equal the answers with 200")
	}
	return out
}

func hasFinding(fs []Finding, id string) bool {
	for _, f := range fs {
		if f.ID == id && f.Severity == string(kasoku.Problem) {
			return true
		}
	}
	return false
}

func (s *story) side(rec *kasoku.Recording, label string) Side {
	whole := rec.Tally(0)
	side := Side{File: s.file(label), Requests: whole.Asked, OK: whole.Success, Findings: []Finding{}}
	for _, c := range rec.RowChecks {
		side.Rows += c.Added()
	}
	for _, st := range rec.Steps {
		if st.PerSec == s.broken {
			t := rec.Tally(st.Number)
			side.Success, side.P50, side.P99 = t.SuccessRatio(), inMilliseconds(t.Latency.Quantile(0.5)),
				inMilliseconds(t.Latency.Quantile(0.99))
		}
	}
	if rec.Diagnosis != nil {
		for _, f := range rec.Diagnosis.Findings {
			side.Findings = append(side.Findings, Finding{
				f.ID, f.Object.String(), string(f.Confidence.Level), string(f.Severity), f.Impact.Share, f.Title})
		}
	}
	return side
}

func rowsMatch(rec *kasoku.Recording) bool {
	if rec == nil || len(rec.RowChecks) == 0 {
		return false
	}
	for _, c := range rec.RowChecks {
		if !c.Matches() {
			return false
		}
	}
	return true
}

func machineOf(rec *kasoku.Recording) Machine {
	m := Machine{}
	if len(rec.Run.Hosts) > 0 {
		h := rec.Run.Hosts[0]
		m = Machine{Host: h.Name, Cores: h.Cores, Memory: h.MemoryBytes, OS: h.OS, Kernel: h.Kernel}
	}
	m.Database, _ = rec.Setting("mysql", "version")
	return m
}
