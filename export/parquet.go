package export

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"path/filepath"
	"slices"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/internal/histogram"
	"github.com/kasoku/kasoku/internal/private"
	"github.com/kasoku/kasoku/wire/parquet"
)

// Parquet writes a run as three files in a directory: requests.parquet, of the access logs, and
// statements.parquet have a row for each second, endpoint or statement, and duration, with how many there were;
// what is of the second as a whole stands in its first row. So sums are sums, and percentiles are those of
// what is grouped: they are never averaged. series.parquet has all samples.
func Parquet(ctx context.Context, dir string, rec *kasoku.Recording, form Form, only []string) error {
	for _, t := range []struct {
		name    string
		columns []parquet.Column
		rows    func(*parquet.Writer) error
	}{
		{"requests.parquet", requestColumns, func(w *parquet.Writer) error { return requests(w, rec) }},
		{"statements.parquet", statementColumns, func(w *parquet.Writer) error { return statements(w, rec) }},
		{"series.parquet", seriesColumns, func(w *parquet.Writer) error {
			return Recording(ctx, rec, form, only, &seriesTable{w, rec.Run.Started})
		}},
	} {
		err := private.Output.Replace(filepath.Join(dir, t.name), func(out io.Writer) error {
			w, err := parquet.NewWriter(out, t.columns...)
			if err != nil {
				return err
			}
			return errors.Join(t.rows(w), w.Close())
		})
		if err != nil {
			return fmt.Errorf("%s: %w", t.name, err)
		}
	}
	return nil
}

var (
	requestColumns = []parquet.Column{{Name: "time", Type: parquet.Time}, {Name: "host", Type: parquet.Text},
		{Name: "method", Type: parquet.Text}, {Name: "route", Type: parquet.Text},
		{Name: "duration_us", Type: parquet.Float}, {Name: "requests", Type: parquet.Int},
		{Name: "server_errors", Type: parquet.Int}}
	statementColumns = []parquet.Column{{Name: "time", Type: parquet.Time}, {Name: "host", Type: parquet.Text},
		{Name: "id", Type: parquet.Text}, {Name: "statement", Type: parquet.Text}, {Name: "tag", Type: parquet.Text},
		{Name: "duration_us", Type: parquet.Float}, {Name: "calls", Type: parquet.Int},
		{Name: "total_us", Type: parquet.Float}, {Name: "rows_sent", Type: parquet.Int}}
	seriesColumns = []parquet.Column{{Name: "time", Type: parquet.Time}, {Name: "host", Type: parquet.Text},
		{Name: "source", Type: parquet.Text}, {Name: "entity", Type: parquet.Text}, {Name: "metric", Type: parquet.Text},
		{Name: "value", Type: parquet.Float}, {Name: "unit", Type: parquet.Text}}
)

// A share is how many of a second had a duration, in µs; nil: it is not known.
type share struct {
	duration any
	n        uint64
}

// shares returns the durations of a second of n, the shortest first, and last those that have none.
func shares(h *histogram.Histogram, n uint64) (out []share) {
	var known uint64
	h.Each(func(lo, hi time.Duration, n uint64) {
		known += n
		middle := float64(lo) + float64(hi-lo-1)/2
		out = append(out, share{middle / float64(time.Microsecond), n})
	})
	if n > known || n == 0 {
		out = append(out, share{nil, n - min(n, known)})
	}
	return out
}

func durationsBySecond(b *histogram.BySecond) map[int]*histogram.Histogram {
	out := map[int]*histogram.Histogram{}
	if b != nil {
		b.Each(func(second int64, h *histogram.Histogram) { out[int(second)] = h })
	}
	return out
}

func requests(w *parquet.Writer, rec *kasoku.Recording) error {
	for i := range rec.Endpoints {
		e := &rec.Endpoints[i]
		durations := durationsBySecond(e.BySecond)
		for _, second := range slices.Sorted(maps.Keys(e.Seconds)) {
			s := e.Seconds[second]
			at := wall(rec.Run.Started, time.Duration(second)*time.Second)
			failed := int64(s.Failed)
			for _, d := range shares(durations[second], s.Count) {
				if err := w.Row(at, e.Host, e.Method, e.Route, d.duration, int64(d.n), failed); err != nil {
					return err
				}
				failed = 0
			}
		}
	}
	return nil
}

func statements(w *parquet.Writer, rec *kasoku.Recording) error {
	for i := range rec.Queries {
		q := &rec.Queries[i]
		durations := durationsBySecond(q.BySecond)
		for _, second := range slices.Sorted(maps.Keys(q.Seconds)) {
			s := q.Seconds[second]
			at := wall(rec.Run.Started, time.Duration(second)*time.Second)
			total, rows := float64(s.Total)/float64(time.Microsecond), int64(s.Rows)
			for _, d := range shares(durations[second], s.Calls) {
				if err := w.Row(at, q.Host, q.ID, q.Fingerprint, q.Tag, d.duration, int64(d.n), total, rows); err != nil {
					return err
				}
				total, rows = 0, 0
			}
		}
	}
	return nil
}

// A seriesTable is an [Output] to a table of samples.
type seriesTable struct {
	w     *parquet.Writer
	start time.Time
}

// Write implements [Output].
func (s *seriesTable) Write(_ context.Context, values []Value) error {
	for i := range values {
		v := &values[i]
		var number any
		if !math.IsNaN(v.Value) && !math.IsInf(v.Value, 0) {
			number = v.Value
		}
		if err := s.w.Row(wall(s.start, v.At), v.Key.Host, v.Key.Source, v.Key.Instance, v.Metric(), number,
			v.Unit); err != nil {
			return err
		}
	}
	return nil
}

// Close implements [Output]; who made the table ends it.
func (s *seriesTable) Close(context.Context) error { return nil }
