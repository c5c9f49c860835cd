package logfile

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/kasoku/kasoku/internal/unit"
	"github.com/kasoku/kasoku/logs/accesslog"
)

// The percentiles that a table has when none are asked for.
var defaultPercentiles = []float64{50, 90, 95, 99}

type accessColumn = column[*accessTable, *accesslog.Row]

// accessColumns are the columns but for keys and percentiles, in the order in which
// they stand; percentiles come after min.
var accessColumns = []accessColumn{
	{name: "now", head: "now", measure: isRate, value: (*accessTable).now},
	{name: "requests", drop: 0, measure: isCount, value: func(_ *accessTable,
		r *accesslog.Row) float64 {
		return float64(r.Count)
	}},
	{name: "total", drop: 4, measure: isTotal, value: func(_ *accessTable, r *accesslog.Row) float64 {
		return timed(r,
			r.Total.Seconds())
	}},
	{name: "share", drop: 5, measure: isRatio, value: (*accessTable).share},
	{name: "mean", drop: 3, measure: isLatency, value: func(_ *accessTable, r *accesslog.Row) float64 {
		return timed(r,
			r.Latency.Mean().Seconds())
	}},
	{name: "stddev", drop: 17, measure: isLatency, value: func(t *accessTable,
		r *accesslog.Row) float64 {
		return timed(r, t.deviation(r))
	}},
	{name: "min", drop: 16, measure: isLatency, value: func(_ *accessTable, r *accesslog.Row) float64 {
		return timed(r,
			r.Latency.Min().Seconds())
	}},
	{name: "max", drop: 8, measure: isLatency, value: func(_ *accessTable, r *accesslog.Row) float64 {
		return timed(r,
			r.Latency.Max().Seconds())
	}},
	{name: "1xx", measure: isCount, value: class(100, 200)},
	{name: "2xx", drop: 11, measure: isCount, value: class(200, 300)},
	{name: "3xx", drop: 15, measure: isCount, value: class(300, 400)},
	{name: "4xx", drop: 7, measure: isCount, value: class(400, 500)},
	{name: "5xx", drop: 2, measure: isCount, value: class(500, math.MaxInt)},
	{name: "bytes", drop: 14, measure: isSize, value: func(_ *accessTable,
		r *accesslog.Row) float64 {
		return float64(r.Bytes)
	}},
	{name: "bytes_min", head: "least", measure: isSize, value: func(_ *accessTable,
		r *accesslog.Row) float64 {
		return float64(r.MinBytes)
	}},
	{name: "bytes_mean", head: "a request", measure: isSize,
		value: func(_ *accessTable, r *accesslog.Row) float64 { return float64(r.Bytes) / float64(max(r.Count, 1)) }},
	{name: "bytes_max", head: "most", measure: isSize, value: func(_ *accessTable,
		r *accesslog.Row) float64 {
		return float64(r.MaxBytes)
	}},
	{name: "request_bytes", head: "received", measure: isSize,
		value: func(_ *accessTable, r *accesslog.Row) float64 {
			return valueOf(r.RequestBytes, float64(r.RequestBytes))
		}},
	{name: "upstream", measure: isTotal, value: func(_ *accessTable,
		r *accesslog.Row) float64 {
		return valueOf(r.UpstreamCount, r.Upstream.Seconds())
	}},
	{name: "upstream_mean", head: "upstream", measure: isLatency,
		value: func(_ *accessTable, r *accesslog.Row) float64 {
			return valueOf(r.UpstreamCount, r.Upstream.Seconds()/float64(r.UpstreamCount))
		}},
	{name: "rate", measure: isRate, value: (*accessTable).rate},
	{name: "bots", measure: isCount, value: func(_ *accessTable, r *accesslog.Row) float64 { return float64(r.Bots) }},
	{name: "first", measure: isMoment, value: func(_ *accessTable, r *accesslog.Row) float64 {
		return moment(r,
			r.First)
	}},
	{name: "last", measure: isMoment, value: func(_ *accessTable, r *accesslog.Row) float64 {
		return moment(r,
			r.Last)
	}},
	{name: "seconds", head: "over time", drop: 20, measure: isStrip, value: (*accessTable).rate},
}

// shownColumns are those that people see when none are asked for; what has no
// value in any row is left out.
var shownColumns = []string{"now", "requests", "total", "share", "mean", "stddev", "min", "p", "max", "2xx", "3xx",
	"4xx", "5xx", "bytes", "seconds"}

// columnAliases are the names that other programs have for a column.
var columnAliases = map[string]string{
	"count": "requests", "sum": "total", "avg": "mean", "body": "bytes", "uri": "route", "path": "route",
	"sum_body": "bytes", "avg_body": "bytes_mean", "min_body": "bytes_min", "max_body": "bytes_max",
}

// timed is a value of request times, or none of a row without them.
func timed(r *accesslog.Row, v float64) float64 { return valueOf(r.Latency.Count(), v) }

// valueOf is a value that n requests have, or none when there are none.
func valueOf(n uint64, v float64) float64 {
	if n == 0 {
		return math.NaN()
	}
	return v
}

// class counts the answers whose code is at least from and below to.
func class(from, to int) func(*accessTable, *accesslog.Row) float64 {
	return func(_ *accessTable, r *accesslog.Row) float64 {
		var n uint64
		for code, k := range r.Codes {
			if code >= from && code < to {
				n += k
			}
		}
		return float64(n)
	}
}

// percentile is a column of a percentile, such as 99.9.
func percentile(p float64) accessColumn {
	drop := 12
	switch p {
	case 50:
		drop = 6
	case 99:
		drop = 1
	case 95:
		drop = 13
	}
	return accessColumn{name: "p" + strconv.FormatFloat(p, 'f', -1, 64), drop: drop, measure: isLatency,
		value: func(_ *accessTable, r *accesslog.Row) float64 {
			return timed(r, r.Latency.Quantile(p/100).Seconds())
		}}
}

// An accessTable is the table of a log's rows on its way.
type accessTable struct {
	log     *AccessLog
	o       AccessOptions
	columns []accessColumn
	sort    accessColumn
	least   bool // the least comes first
	total   time.Duration
	all     uint64
	seconds float64 // that the log covers
}

// CheckAccess reports whether the options are such that [Access] takes them, for rows
// that are keyed by these.
func CheckAccess(by []string, o AccessOptions) error {
	_, err := newAccessTable(&AccessLog{By: by}, o)
	return err
}

func newAccessTable(a *AccessLog, o AccessOptions) (*accessTable, error) {
	t := &accessTable{log: a, o: o}
	t.all, _, t.total = a.requests()
	if from, to, ok := a.span(); ok {
		t.seconds = covered(from, to).Seconds()
	}
	for _, p := range o.Percentiles {
		if !(p >= 0 && p <= 100) {
			return nil, fmt.Errorf("percentile %v: want 0 to 100", p)
		}
	}
	names := o.Columns
	if len(names) == 0 {
		names = t.usual()
	}
	for _, name := range names {
		c, err := t.column(name)
		if err != nil {
			return nil, err
		}
		t.columns = append(t.columns, c)
	}
	var err error
	t.sort, err = t.column(cmp.Or(o.Sort, t.usualSort()))
	t.least = (t.sort.measure == isKey) != o.Reverse
	return t, err
}

// usual are the columns when none are asked for.
func (t *accessTable) usual() []string {
	names := slices.Clone(t.log.By)
	ps := t.o.Percentiles
	if len(ps) == 0 {
		ps = defaultPercentiles
	}
	for _, c := range accessColumns {
		if c.name == "max" {
			for _, p := range ps {
				names = append(names, percentile(p).name)
			}
		}
		if c.name == "now" && t.log.Live == nil || strings.HasSuffix(c.name, "xx") && !t.o.Machine && t.byStatus() {
			continue
		}
		if t.o.Machine && c.measure != isStrip || slices.Contains(shownColumns, c.name) {
			names = append(names, c.name)
		}
	}
	if t.o.Machine {
		return names
	}
	return slices.DeleteFunc(names, t.empty)
}

// byStatus reports whether rows have one class of status each.
func (t *accessTable) byStatus() bool {
	return slices.Contains(t.log.By, "status") || slices.Contains(t.log.By, "class")
}

// empty reports whether a column says nothing of any row: there are no times, or
// no answers of a class.
func (t *accessTable) empty(name string) bool {
	c, err := t.column(name)
	if err != nil || c.measure == isKey || len(t.log.Rows) == 0 {
		return false
	}
	for i := range t.log.Rows {
		v := c.value(t, &t.log.Rows[i])
		if v > 0 || v == 0 && c.measure != isCount && c.measure != isSize {
			return false
		}
	}
	return true
}

func (t *accessTable) usualSort() string {
	if t.total == 0 {
		return "requests"
	}
	return "total"
}

// column finds a column by the name that people give it.
func (t *accessTable) column(name string) (accessColumn, error) {
	name = strings.ToLower(strings.TrimSpace(name))
	name = cmp.Or(columnAliases[name], name)
	if i := slices.Index(t.log.By, name); i >= 0 {
		return accessColumn{name: name, head: name, key: name, part: i}, nil
	}
	for _, c := range accessColumns {
		if c.name == name {
			return completeColumn(c), nil
		}
	}
	if digits, ok := strings.CutPrefix(name, "p"); ok {
		if p, err := strconv.ParseFloat(digits, 64); err == nil && p >= 0 && p <= 100 {
			c := completeColumn(percentile(p))
			if len(t.o.Percentiles) > 0 {
				c.drop = 3 // it was asked for
			}
			return c, nil
		}
	}
	return accessColumn{}, &UnknownColumnError{Name: name, Known: t.known()}
}

func (t *accessTable) known() []string {
	names := slices.Clone(t.log.By)
	for _, c := range accessColumns {
		if c.name == "max" {
			names = append(names, "p50", "p99", "p99.9")
		}
		names = append(names, c.name)
	}
	return names
}

// An UnknownColumnError reports that a table has no such column.
type UnknownColumnError struct {
	Name  string
	Known []string
}

// Error names the column.
func (e *UnknownColumnError) Error() string { return fmt.Sprintf("no column %q", e.Name) }

// Hint lists the columns.
func (e *UnknownColumnError) Hint() string {
	if near, ok := unit.Nearest(e.Name, e.Known); ok {
		return fmt.Sprintf("did you mean %q? there are %s, and p0 to p100", near, strings.Join(e.Known, ", "))
	}
	return "there are " + strings.Join(e.Known, ", ") + ", and p0 to p100"
}

// completeColumn gives a column its head and its key for machines.
func completeColumn(c accessColumn) accessColumn {
	c.head = cmp.Or(c.head, c.name)
	switch c.measure {
	case isLatency, isTotal:
		c.key = c.name + "_s"
	case isRatio:
		c.key = c.name + "_ratio"
	case isRate:
		c.key = map[string]string{"rate": "req_per_s", "now": "now_per_s"}[c.name]
	case isSize:
		c.key = strings.TrimSuffix(strings.Replace(c.name, "bytes", "body_bytes", 1), "_")
		if c.name == "request_bytes" {
			c.key = c.name
		}
	case isCount:
		c.key = c.name
		if strings.HasSuffix(c.name, "xx") {
			c.key = "status_" + c.name
		}
	default:
		c.key = c.name
	}
	return c
}

// The figures of a row.

// deviation is the standard deviation of all requests of a row, in s.
func (t *accessTable) deviation(r *accesslog.Row) float64 {
	return deviation(r.Latency.Count(), r.Total, r.Squares)
}

// moment is an offset of a row whose requests have times.
func moment(r *accesslog.Row, at time.Duration) float64 {
	if !Stamped(r) {
		return math.NaN()
	}
	return at.Seconds()
}

// share is that of the request time; without times that of the requests.
func (t *accessTable) share(r *accesslog.Row) float64 {
	if t.total == 0 {
		return float64(r.Count) / float64(max(t.all, 1))
	}
	return float64(r.Total) / float64(t.total)
}

// now is the rate of what came since the table was drawn last.
func (t *accessTable) now(r *accesslog.Row) float64 {
	if t.log.Live == nil || t.log.Live.During <= 0 {
		return math.NaN()
	}
	return float64(t.log.Live.Now[LiveKey(r.Key)]) / t.log.Live.During.Seconds()
}

func (t *accessTable) rate(r *accesslog.Row) float64 {
	if t.seconds == 0 {
		return math.NaN()
	}
	return float64(r.Count) / t.seconds
}
