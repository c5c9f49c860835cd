package store

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/internal/unit"
)

// recording reads all that the file holds. path names a run whose own row is
// lost.
func (rd *reader) recording(path string, c condition) *kasoku.Recording {
	rd.readSums()
	rec := &kasoku.Recording{}
	run := rd.run(path)
	rec.Run = run.Run
	rec.Summary = one(summaryTable().read(rd))
	rec.Phases = values(phaseTable().read(rd))
	rec.Steps = values(stepTable().read(rd))
	rec.Load = one(loadTable().read(rd))
	rd.part("seconds", func() { rec.Seconds = rd.seconds() })
	rd.part("series", func() { rec.Series = rd.series() })
	rec.Gaps = append(values(gapTable().read(rd)), rd.lost...)
	rec.Events = values(eventTable().read(rd))
	rec.Changes = values(changeTable().read(rd))
	rec.Settings = values(settingTable().read(rd))
	rd.part("configs", func() { rec.Configs = rd.configs() })
	rec.RowChecks = values(rowCheckTable().read(rd))
	rec.Warnings = values(warningTable().read(rd))
	rec.Endpoints = values(endpointTable().read(rd))
	rd.part("logs", func() { rd.logs(rec) })
	rd.part("analysis", func() { rd.analysis(rec) })
	rd.part("diagnosis", func() { rec.Diagnosis = rd.diagnosis() })
	end(&rec.Run, lastMoment(rec), c == live || run.recorder.alive())
	rd.missingSums(rec.Run.State)
	rec.Damage = rd.damage
	return rec
}

func (rd *reader) run(path string) runRow {
	row := one(runTable().read(rd))
	if row == nil {
		rd.lose("what the run was: its name, start, length and state")
		row = &runRow{Run: kasoku.Run{ID: fileID(path), State: kasoku.Incomplete, StopReason: "its description is damaged"}}
	}
	row.Hosts = values(hostTable().read(rd))
	row.Score = one(scoreTable().read(rd))
	row.Command = one(commandTable().read(rd))
	if output := one(rawCommandTable().read(rd)); output != nil && row.Command != nil {
		row.Command.Output = output.text
	}
	return *row
}

// end gives a run that was not finished the length up to its last sample, and
// one whose recorder is gone its state.
func end(run *kasoku.Run, last time.Duration, alive bool) {
	if run.Length == 0 && run.State != kasoku.Finished {
		run.Length = last
	}
	if run.State == kasoku.Running && !alive {
		run.State = kasoku.Incomplete
		run.StopReason = killedAt(last)
	}
}

// killedAt is the reason of a run whose recorder never finished it.
func killedAt(last time.Duration) string {
	return "recorder killed; last second " + unit.Count(int64(last/time.Second))
}

// lastMoment is the latest time at which anything was recorded.
func lastMoment(rec *kasoku.Recording) time.Duration {
	var last time.Duration
	for i := range rec.Series {
		if p := rec.Series[i].Points; len(p) > 0 {
			last = max(last, p[len(p)-1].At)
		}
	}
	for _, e := range rec.Events {
		last = max(last, e.At)
	}
	for _, g := range rec.Gaps {
		last = max(last, g.Interval.To)
	}
	for i := range rec.Seconds {
		last = max(last, time.Duration(rec.Seconds[i].Second)*time.Second)
	}
	return last
}

func (rd *reader) seconds() []kasoku.LoadSecond {
	rows := values(secondTable().read(rd))
	slices.SortStableFunc(rows, func(a, b secondRow) int {
		return cmp.Or(cmp.Compare(a.Second, b.Second), cmp.Compare(a.Step, b.Step),
			strings.Compare(a.Target, b.Target), strings.Compare(a.host, b.host))
	})
	return mapped(rows, func(r secondRow) kasoku.LoadSecond { return r.LoadSecond })
}

// configs reads the texts of the configuration.
func (rd *reader) configs() []kasoku.Config {
	configs := configTable().read(rd)
	withText(rd, configs, rawConfigTable(), func(c *kasoku.Config, text string) { c.Text = text })
	return values(configs)
}

// logs reads the tables that have raw samples beside them.
func (rd *reader) logs(rec *kasoku.Recording) {
	logs := logTable().read(rd)
	for _, b := range values(badLineTable().read(rd)) {
		if l := byID(logs, b.log); l != nil {
			l.BadSample = append(l.BadSample, b.BadLine)
		}
	}
	rec.Logs = values(logs)

	queries := queryTable().read(rd)
	withText(rd, queries, rawQueryTable(), func(q *kasoku.Query, text string) { q.Sample = text })
	withText(rd, queries, rawStatementTable(), func(q *kasoku.Query, text string) { q.Raw = text })
	rec.Queries = values(queries)

	saves := saveTable().read(rd)
	for _, t := range values(rawSaveTable().read(rd)) {
		if s := byID(saves, t.parent); s != nil {
			s.Sample = append(s.Sample, t.text)
		}
	}
	rec.Saves = values(saves)

	messages := messageTable().read(rd)
	withText(rd, messages, rawMessageTable(), func(m *kasoku.Message, text string) { m.Sample = text })
	rec.Messages = values(messages)
}

// analysis reads what schemas 3, 5 and 6 added.
func (rd *reader) analysis(rec *kasoku.Recording) {
	slow := slowTable().read(rd)
	withText(rd, slow, rawURITable(), func(s *kasoku.SlowRequest, text string) { s.URI = text })
	rec.Slowest = values(slow)
	rec.Transactions = values(txnTable().read(rd))
	plans := planTable().read(rd)
	withText(rd, plans, rawPlanTable(), func(p *kasoku.Plan, text string) { p.Text = text })
	for _, s := range values(planStepTable().read(rd)) {
		if p := byID(plans, s.plan); p != nil {
			p.Rows = append(p.Rows, s.PlanRow)
		}
	}
	rec.Plans = values(plans)
	rec.Tables = values(tableDefTable().read(rd))
	rec.Advice = values(adviceTable().read(rd))

	rec.Joins = values(joinTable().read(rd))
	rec.Callers = values(callerTable().read(rd))
	rec.LockWaits = values(lockWaitTable().read(rd))
	rec.Deadlocks = values(deadlockTable().read(rd))
	rec.Profiles = readProfiles(rd)
	rec.Traces = values(traceTable().read(rd))
	rec.Service = readService(rd)
}

// withText gives each value the text that the table beside it has under its id.
func withText[T any](rd *reader, rows []kept[T], raw table[rawText], set func(v *T, text string)) {
	for _, t := range raw.read(rd) {
		if v := byID(rows, t.id); v != nil {
			set(v, t.v.text)
		}
	}
}

func (rd *reader) diagnosis() *kasoku.Diagnosis {
	head := one(diagnosisTable().read(rd))
	findings := findingTable().read(rd)
	evidence := evidenceTable().read(rd)
	for _, q := range quoteTable().read(rd) {
		if e := byID(evidence, q.id); e != nil {
			e.Text, e.Note = q.v.text, q.v.note
		}
	}
	for _, e := range values(evidence) {
		if f := byID(findings, e.finding); f != nil {
			f.Evidence = append(f.Evidence, e.Evidence)
		}
	}
	silences := values(silenceTable().read(rd))
	if head == nil && findings == nil && silences == nil {
		return nil
	}
	if head == nil {
		head = &verdict{}
	}
	return &kasoku.Diagnosis{Verdict: head.text, Rules: head.rules, Findings: values(findings), Silences: silences}
}
