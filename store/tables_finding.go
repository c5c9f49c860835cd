package store

import (
	"time"

	"github.com/kasoku/kasoku"
)

// The tables of the stored diagnosis. The text of evidence quotes logs and
// statements and so is kept with the raw samples.

// A verdict is the one row of table diagnosis.
type verdict struct {
	text  string
	rules int
}

func diagnosisTable() table[verdict] {
	return table[verdict]{
		name:    "diagnosis",
		columns: cols("verdict rules"),
		put:     func(v *verdict) []any { return []any{v.text, v.rules} },
		get:     func(r *row, v *verdict) { v.text, v.rules = r.text(), r.int() },
	}
}

// fixJSON and keyJSON name the members of JSON columns. The conversions below
// do not compile when a field is added and not named here.
type fixJSON struct {
	Text  string      `json:"text"`
	Where string      `json:"where,omitempty"`
	Code  string      `json:"code,omitempty"`
	Note  string      `json:"note,omitempty"`
	Risk  kasoku.Risk `json:"risk"`
	Lang  string      `json:"lang,omitempty"`
	Edits []editJSON  `json:"edits,omitempty"`
}

type editJSON struct {
	Kind    string `json:"kind"`
	Do      string `json:"do,omitempty"`
	Undo    string `json:"undo,omitempty"`
	Conf    string `json:"conf,omitempty"`
	Context string `json:"context,omitempty"`
	Lines   string `json:"lines,omitempty"`
}

func packFix(f kasoku.Fix) fixJSON {
	return fixJSON{f.Text, f.Where, f.Code, f.Note, f.Risk, f.Lang,
		mapped(f.Edits, func(e kasoku.Edit) editJSON { return editJSON(e) })}
}

func (f fixJSON) fix() kasoku.Fix {
	return kasoku.Fix{Text: f.Text, Where: f.Where, Code: f.Code, Note: f.Note, Risk: f.Risk, Lang: f.Lang,
		Edits: mapped(f.Edits, func(e editJSON) kasoku.Edit { return kasoku.Edit(e) })}
}

type keyJSON struct {
	Host     string `json:"host"`
	Source   string `json:"source"`
	Name     string `json:"name"`
	Instance string `json:"instance,omitempty"`
}

func mapped[A, B any](in []A, f func(A) B) []B {
	if in == nil {
		return nil
	}
	out := make([]B, len(in))
	for i, v := range in {
		out[i] = f(v)
	}
	return out
}

func findingTable() table[kasoku.Finding] {
	return table[kasoku.Finding]{
		name: "finding",
		columns: cols(`finding_id object_kind object_name title clause severity confidence signals_hold signals_of
			confidence_note impact_share impact_of impact_estimate impact_shared cause fixes expect verify explains
			from_ns to_ns`),
		put: func(v *kasoku.Finding) []any {
			fixes := mapped(v.Fixes, packFix)
			c, i := v.Confidence, v.Impact
			return []any{v.ID, v.Object.Kind, v.Object.Name, v.Title, v.Clause, string(v.Severity),
				string(c.Level), c.Holds, c.Of, c.Note, i.Share, i.Of, asInt(i.Estimate), jsonText(i.Shared),
				v.Cause, jsonText(fixes), v.Expect, v.Verify, jsonText(v.Explains), ns(v.Interval.From),
				ns(v.Interval.To)}
		},
		get: func(r *row, v *kasoku.Finding) {
			v.ID, v.Object.Kind, v.Object.Name, v.Title, v.Clause = r.text(), r.text(), r.text(), r.text(), r.text()
			v.Severity = kasoku.Severity(r.text())
			v.Confidence = kasoku.Confidence{Level: kasoku.Level(r.text()), Holds: r.int(), Of: r.int(), Note: r.text()}
			v.Impact = kasoku.Impact{Share: r.real(), Of: r.text(), Estimate: r.bool()}
			r.json(&v.Impact.Shared)
			v.Cause = r.text()
			var fixes []fixJSON
			r.json(&fixes)
			v.Fixes = mapped(fixes, fixJSON.fix)
			v.Expect, v.Verify = r.text(), r.text()
			r.json(&v.Explains)
			v.Interval = interval(r)
		},
	}
}

// An evidenceRow is a piece of evidence, without its text, of the finding with
// id finding.
type evidenceRow struct {
	finding int64
	kasoku.Evidence
}

func evidenceTable() table[evidenceRow] {
	return table[evidenceRow]{
		name:    "evidence",
		columns: cols("finding source value number strong series from_ns to_ns"),
		put: func(v *evidenceRow) []any {
			keys := mapped(v.Series, func(k kasoku.Key) keyJSON { return keyJSON(k) })
			return []any{v.finding, v.Source, v.Value, v.Number, asInt(v.Strong), jsonText(keys),
				ns(v.Interval.From), ns(v.Interval.To)}
		},
		get: func(r *row, v *evidenceRow) {
			v.finding, v.Source, v.Value, v.Number, v.Strong = r.int64(), r.text(), r.text(), r.real(), r.bool()
			var keys []keyJSON
			r.json(&keys)
			v.Series = mapped(keys, func(k keyJSON) kasoku.Key { return kasoku.Key(k) })
			v.Interval = interval(r)
		},
	}
}

// A quote is the text of a piece of evidence, under the same id.
type quote struct{ text, note string }

func quoteTable() table[quote] {
	return table[quote]{
		name:    "raw_evidence",
		columns: cols("text note"),
		put:     func(v *quote) []any { return []any{v.text, v.note} },
		get:     func(r *row, v *quote) { v.text, v.note = r.text(), r.text() },
	}
}

func silenceTable() table[kasoku.Silence] {
	return table[kasoku.Silence]{
		name:    "silence",
		columns: cols("finding_id reason near blind"),
		put:     func(v *kasoku.Silence) []any { return []any{v.ID, v.Reason, v.Near, asInt(v.Blind)} },
		get: func(r *row, v *kasoku.Silence) {
			v.ID, v.Reason, v.Near, v.Blind = r.text(), r.text(), r.real(), r.bool()
		},
	}
}

// The tables of the samples.

// A seriesRow is what the file knows of a series without its points.
type seriesRow struct {
	key    kasoku.Key
	unit   string
	kind   string
	extent extent
}

// An extent sums up the points of a series for those who read the file with
// SQL. It is written when the run is finished.
type extent struct {
	points      int64
	first, last time.Duration
	values      [4]float64 // first, last, least, greatest
}

func (e *extent) add(at time.Duration, v float64) {
	if e.points == 0 || at < e.first {
		e.first, e.values[0] = at, v
	}
	if e.points == 0 || at >= e.last {
		e.last, e.values[1] = at, v
	}
	if e.points == 0 || v < e.values[2] {
		e.values[2] = v
	}
	if e.points == 0 || v > e.values[3] {
		e.values[3] = v
	}
	e.points++
}

func seriesTable() table[seriesRow] {
	return table[seriesRow]{
		name: "series",
		columns: cols(`host source name instance unit kind points first_ns last_ns first_value last_value min_value
			max_value`),
		put: func(v *seriesRow) []any {
			e := v.extent
			return []any{v.key.Host, v.key.Source, v.key.Name, v.key.Instance, v.unit, v.kind,
				e.points, ns(e.first), ns(e.last), e.values[0], e.values[1], e.values[2], e.values[3]}
		},
		get: func(r *row, v *seriesRow) {
			v.key = kasoku.Key{Host: r.text(), Source: r.text(), Name: r.text(), Instance: r.text()}
			v.unit, v.kind, v.extent.points = r.text(), r.text(), r.int64()
		},
	}
}

const (
	kindCounter = "counter"
	kindGauge   = "gauge"
)

func kindName(k kasoku.Kind) string {
	if k == kasoku.Counter {
		return kindCounter
	}
	return kindGauge
}

func kindOf(name string) kasoku.Kind {
	if name == kindCounter {
		return kasoku.Counter
	}
	return kasoku.Gauge
}
