package ptquerydigest

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// The JSON of pt-query-digest. Its keys come in random order there, sorted here;
// numbers are texts, those of times with six decimals, all others cut to whole
// ones.
type (
	jsonDocument struct {
		Classes []jsonClass `json:"classes"`
		Global  jsonGlobal  `json:"global"`
	}
	jsonGlobal struct {
		Files   []jsonFile     `json:"files"`
		Metrics map[string]any `json:"metrics"`
		Count   uint64         `json:"query_count"`
		Rate    *jsonRate      `json:"rate_limit,omitempty"`
		Unique  int            `json:"unique_query_count"`
	}
	jsonRate struct {
		Differ int    `json:"diff,omitempty"`
		Limit  int64  `json:"limit,omitempty"`
		Type   string `json:"type,omitempty"`
		Error  string `json:"error,omitempty"`
	}
	jsonFile struct {
		Name string `json:"name"`
		Size int64  `json:"size"`
	}
	jsonClass struct {
		Attribute   string                          `json:"attribute"`
		Checksum    string                          `json:"checksum"`
		Distillate  *string                         `json:"distillate"`
		Example     *jsonExample                    `json:"example,omitempty"`
		Fingerprint string                          `json:"fingerprint"`
		Histograms  map[string][len(decades)]uint64 `json:"histograms"`
		Metrics     map[string]any                  `json:"metrics"`
		Count       uint64                          `json:"query_count"`
		Tables      []jsonTable                     `json:"tables,omitempty"`
		First       string                          `json:"ts_min,omitempty"`
		Last        string                          `json:"ts_max,omitempty"`
	}
	jsonExample struct {
		Time   string  `json:"Query_time"`
		Select string  `json:"as_select,omitempty"`
		Query  string  `json:"query"`
		At     *string `json:"ts"`
	}
	jsonTable struct {
		Create string `json:"create"`
		Status string `json:"status"`
	}
)

// writeJSON writes the classes that are reported.
func (p *printer) writeJSON(d *digest) error {
	doc := jsonDocument{Classes: []jsonClass{}, Global: jsonGlobal{Metrics: map[string]any{}, Count: d.overall.ranked,
		Unique: d.unique}}
	for _, f := range d.files {
		doc.Global.Files = append(doc.Global.Files, jsonFile{f.name, f.size})
	}
	for i := range d.overall.attrs {
		switch a := &d.overall.attrs[i]; a.kind {
		case isNumber:
			doc.Global.Metrics[a.name] = numberMetrics(a)
		case isYesNo:
			doc.Global.Metrics[a.name] = map[string]string{"cnt": fmt.Sprint(a.yes)}
		}
	}
	doc.Global.Rate = d.jsonRate()
	for _, c := range d.classes {
		if c.reason != "" {
			doc.Classes = append(doc.Classes, p.jsonClass(d, c))
		}
	}
	fmt.Fprintln(p.w)
	return encodeJSON(p.w, doc)
}

func (d *digest) jsonRate() *jsonRate {
	least, greatest := d.rateLimits()
	if least == "" {
		return nil
	}
	out := new(jsonRate)
	if least != greatest {
		out.Differ = 1
	}
	kind, limit, _ := strings.Cut(least, ":")
	n, err := strconv.ParseUint(limit, 10, 32)
	if err != nil {
		out.Error = "Invalid rate limit: " + asText(least)
		return out
	}
	out.Type, out.Limit = asText(kind), int64(n)
	return out
}

func encodeJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	return e.Encode(v)
}

func (p *printer) jsonClass(d *digest, c *class) jsonClass {
	out := jsonClass{
		Attribute: d.groupBy, Checksum: checksumOf(c.key), Fingerprint: c.key, Count: c.calls,
		First: c.span.firstText, Last: c.span.lastText,
		Metrics:    map[string]any{},
		Histograms: map[string][len(decades)]uint64{p.o.histogram: distributionOf(c.find(p.o.histogram))},
	}
	if p.o.output != "json-anon" {
		out.Example = &jsonExample{Time: c.worst.queryTime, Query: asText(c.worst.statement)}
		if !isSelect(c.worst.statement) {
			s, _ := asSelect(c.worst.statement)
			out.Example.Select = asText(s)
		}
		if c.worst.ts != "" {
			out.Example.At = &c.worst.ts
		}
	}
	if d.groupBy == byFingerprint {
		out.Distillate = &c.item
		for _, t := range namedTables(c.worst.statement, c.worst.db) {
			out.Tables = append(out.Tables, jsonTable{t.create() + `\G`, t.status() + `\G`})
		}
	}
	reads := equalAny(strings.SplitN(c.item, " ", 2)[0], "SELECT", "SET", "SHOW")
	for i := range c.attrs {
		switch a := &c.attrs[i]; a.kind {
		case isNumber:
			if reads && a.name == "Rows_affected" {
				continue // it is left out where nothing can be affected
			}
			m := numberMetrics(a)
			m["pct"] = formatMetric(a.name, float64(a.sum.Count)/float64(overallCount(d, a.name)))
			out.Metrics[a.name] = m
		case isYesNo:
			out.Metrics[a.name] = map[string]string{"yes": fmt.Sprint(a.yes)}
		case isText:
			if len(a.values) > 0 {
				last := slices.MaxFunc(a.values, func(x, y value) int { return strings.Compare(x.text, y.text) })
				out.Metrics[a.name] = map[string]string{"value": asText(last.text)}
			}
		}
	}
	return out
}

// asText makes bytes fit for JSON: what is no UTF-8 is taken for Latin-1.
func asText(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	var b strings.Builder
	for i := range len(s) {
		b.WriteRune(rune(s[i]))
	}
	return b.String()
}

// overallCount is how many events have a numeric attribute.
func overallCount(d *digest, name string) uint64 {
	s, _ := d.overall.number(name)
	return max(s.Count, 1)
}

func numberMetrics(a *attribute) map[string]string {
	u := &a.sum
	out := map[string]string{}
	for name, v := range map[string]float64{
		"sum": u.Sum, "min": u.Min, "max": u.Max, "avg": u.Mean, "median": u.Median, "stddev": u.Stddev,
		"pct_95": u.P95,
	} {
		out[name] = formatMetric(a.name, v)
	}
	return out
}

// formatMetric prints a number.
func formatMetric(name string, v float64) string {
	if isTime(name) {
		return fmt.Sprintf("%.6f", v)
	}
	return fmt.Sprintf("%.0f", truncFloat(v))
}
