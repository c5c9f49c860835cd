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
	return tableOf("diagnosis", func(v *verdict) []column {
		return []column{
			{"verdict", textOf(&v.text)}, {"rules", numberOf(&v.rules)},
		}
	})
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

func findingTable() table[kasoku.Finding] {
	return tableOf("finding", func(v *kasoku.Finding) []column {
		c, i := &v.Confidence, &v.Impact
		return []column{
			{"finding_id", textOf(&v.ID)}, {"object_kind", textOf(&v.Object.Kind)},
			{"object_name", textOf(&v.Object.Name)}, {"title", textOf(&v.Title)}, {"clause", textOf(&v.Clause)},
			{"severity", textOf(&v.Severity)}, {"confidence", textOf(&c.Level)}, {"signals_hold", numberOf(&c.Holds)},
			{"signals_of", numberOf(&c.Of)}, {"confidence_note", textOf(&c.Note)}, {"impact_share", realOf(&i.Share)},
			{"impact_of", textOf(&i.Of)}, {"impact_estimate", flagOf(&i.Estimate)},
			{"impact_shared", jsonOf(&i.Shared)}, {"cause", textOf(&v.Cause)}, {"fixes", packedOf(&v.Fixes, packFix, fixJSON.fix)},
			{"expect", textOf(&v.Expect)}, {"verify", textOf(&v.Verify)}, {"explains", jsonOf(&v.Explains)},
			{"from_ns", numberOf(&v.Interval.From)}, {"to_ns", numberOf(&v.Interval.To)},
		}
	})
}

// An evidenceRow is a piece of evidence, without its text, of the finding with
// id finding.
type evidenceRow struct {
	finding int64
	kasoku.Evidence
}

func evidenceTable() table[evidenceRow] {
	return tableOf("evidence", func(v *evidenceRow) []column {
		keys := packedOf(&v.Series, func(k kasoku.Key) keyJSON { return keyJSON(k) },
			func(k keyJSON) kasoku.Key { return kasoku.Key(k) })
		return []column{
			{"finding", numberOf(&v.finding)}, {"source", textOf(&v.Source)}, {"value", textOf(&v.Value)},
			{"number", realOf(&v.Number)}, {"strong", flagOf(&v.Strong)}, {"series", keys},
			{"from_ns", numberOf(&v.Interval.From)}, {"to_ns", numberOf(&v.Interval.To)},
		}
	})
}

// A quote is the text of a piece of evidence, under the same id.
type quote struct{ text, note string }

func quoteTable() table[quote] {
	return tableOf("raw_evidence", func(v *quote) []column {
		return []column{
			{"text", textOf(&v.text)}, {"note", textOf(&v.note)},
		}
	})
}

func silenceTable() table[kasoku.Silence] {
	return tableOf("silence", func(v *kasoku.Silence) []column {
		return []column{
			{"finding_id", textOf(&v.ID)}, {"reason", textOf(&v.Reason)}, {"near", realOf(&v.Near)},
			{"blind", flagOf(&v.Blind)},
		}
	})
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
	return tableOf("series", func(v *seriesRow) []column {
		e := &v.extent
		at := func(p *time.Duration) cell { return computedBy(func() any { return int64(*p) }) }
		value := func(i int) cell { return computedBy(func() any { return e.values[i] }) }
		return []column{
			{"host", textOf(&v.key.Host)}, {"source", textOf(&v.key.Source)}, {"name", textOf(&v.key.Name)},
			{"instance", textOf(&v.key.Instance)}, {"unit", textOf(&v.unit)}, {"kind", textOf(&v.kind)},
			{"points", numberOf(&e.points)}, {"first_ns", at(&e.first)}, {"last_ns", at(&e.last)},
			{"first_value", value(0)}, {"last_value", value(1)}, {"min_value", value(2)}, {"max_value", value(3)},
		}
	})
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
