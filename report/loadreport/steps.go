package loadreport

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/internal/unit"
	"github.com/kasoku/kasoku/report"
	"github.com/kasoku/kasoku/report/cell"
)

// StepColumns are those that the load alone fills.
func StepColumns(u string) []report.Column {
	cols := []report.Column{
		{Key: "step", Head: "step"},
		{Key: "asked_per_s", Head: "asked", Unit: "/s", Align: report.Decimal},
		{Key: "reached_per_s", Head: "reached", Unit: "2xx/s", Align: report.Decimal, Drop: 2},
		{Key: "success_ratio", Head: "success", Unit: "%", Align: report.Decimal},
	}
	for _, q := range []string{"mean", "p50", "p95", "p99", "max"} {
		// Of the percentiles, p99 stays the longest.
		drop := map[string]int{"mean": 5, "p50": 1, "p95": 3, "max": 4}[q]
		cols = append(cols, report.Column{Key: q + "_s", Head: q, Unit: u, Align: report.Decimal, Drop: drop})
	}
	return append(cols,
		report.Column{Key: "errors", Head: "errors", Align: report.Right},
		report.Column{Key: "success", Head: "2xx", Align: report.Right, Drop: 8},
		report.Column{Key: "requests", Head: "requests", Align: report.Right, Drop: 9},
	)
}

// StepCells fills [StepColumns]; perSec is what was reached.
func StepCells(s kasoku.Step, t *kasoku.Tally, perSec float64, u time.Duration) []report.Cell {
	step := report.Cell{Text: unit.Count(s.Number), Raw: strconv.Itoa(s.Number)}
	if s.Partial() {
		step.Small = unit.Plain(math.Round(s.Interval.Len().Seconds()*10)/10) + " of " + unit.Exact(s.Planned)
		step.Tone = report.Dim
	}
	reached := cell.None()
	if !math.IsNaN(perSec) {
		reached = cell.Fixed1(perSec)
	}
	success := cell.Percent(t.SuccessRatio())
	share := t.SuccessRatio()
	success.Share = &share
	if t.Failed() > 0 && !s.Partial() {
		success.Tone = report.Bad
	}
	errors := cell.Count(t.Failed())
	if t.Failed() > 0 {
		errors.Tone = success.Tone
	}
	cells := []report.Cell{step, askedCell(s), reached, success}
	if t.Latency.Count() == 0 {
		cells = append(cells, cell.None(), cell.None(), cell.None(), cell.None(), cell.None())
	} else {
		cells = append(cells, cell.Duration(t.Latency.Mean(), u), cell.Duration(t.Latency.Quantile(0.50), u),
			cell.Duration(t.Latency.Quantile(0.95), u), cell.Duration(t.Latency.Quantile(0.99),
				u), cell.Duration(t.Latency.Max(), u))
	}
	return append(cells, errors, cell.Count(t.Success-t.Expected), cell.Count(t.Asked))
}

// askedCell is the rate of a step; of a ramp, that at its start and at its end.
func askedCell(s kasoku.Step) report.Cell {
	switch {
	case s.PerSecTo > 0 && s.PerSecTo != s.PerSec:
		return report.Cell{Text: unit.Plain(s.PerSec) + " → " + unit.Plain(s.PerSecTo),
			Raw: report.RawNumber((s.PerSec + s.PerSecTo) / 2)}
	case s.PerSec <= 0:
		return cell.None()
	}
	return report.Cell{Text: unit.Plain(s.PerSec), Raw: report.RawNumber(s.PerSec)}
}

// mostErrors is how many messages of a step are listed.
const mostErrors = 5

type answer struct {
	kasoku.ErrorCount
	Bad bool
}

// Answers lists the status codes of a tally and then its most frequent error
// messages that are more than the text of a status.
func Answers(t *kasoku.Tally) []answer {
	var out []answer
	codes := slices.SortedFunc(maps.Keys(t.Codes), func(a, b int) int { return cmp.Compare(t.Codes[b], t.Codes[a]) })
	for _, code := range codes {
		if code != 0 && t.Codes[code] > 0 {
			out = append(out, answer{kasoku.ErrorCount{Message: statusText(code, t), Count: t.Codes[code]},
				(code < 200 || code >= 400) && !isExpected(code, t)})
		}
	}
	var left uint64
	shown := 0
	for _, e := range t.TopErrors() {
		if isStatus(e.Message, t) {
			continue
		}
		if shown++; shown > mostErrors {
			left += e.Count
			continue
		}
		out = append(out, answer{e, true})
	}
	if left > 0 {
		out = append(out, answer{kasoku.ErrorCount{Message: "other errors", Count: left}, true})
	}
	return out
}

// isExpected reports whether all answers with a code were such as the load expected: none of them is
// among the errors.
func isExpected(code int, t *kasoku.Tally) bool {
	return t.Codes[code] <= t.Expected && statusText(code, t) == strconv.Itoa(code)
}

// statusText returns the text that the load gave for a status, else the code.
func statusText(code int, t *kasoku.Tally) string {
	c := strconv.Itoa(code)
	for m := range t.Errors {
		if strings.HasPrefix(m, c+" ") && isStatus(m, t) {
			return m
		}
	}
	return c
}

// isStatus reports whether an error message is the text of a status that came.
func isStatus(m string, t *kasoku.Tally) bool {
	head, _, _ := strings.Cut(m, " ")
	code, err := strconv.Atoi(head)
	return err == nil && code >= 100 && code <= 999 && t.Codes[code] > 0
}
