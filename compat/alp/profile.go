package alp

import (
	"context"
	"fmt"
	"io"
	"sort"
	"strconv"
	"strings"
	"time"

	"github.com/kasoku/kasoku/compat/exact"
	"github.com/kasoku/kasoku/logs/lines"
)

// A stat is what is known of a class.
type stat struct {
	uri, method      string
	n                uint64
	status           [6]uint64
	sum, sumBody     float64 // added up in the order of the lines
	minBody, maxBody float64
	steps            []exact.Step // the response times, ascending
	values           []float64    // the same in the order of the lines, when there is to be a dump
}

// A profile is the classes in the order of their first lines.
type profile []*stat

// profileLogs reads logs into a profile.
func profileLogs(ctx context.Context, o *options, in []lines.Input, stderr io.Writer) (profile, int64, error) {
	s, err := newScan(o, nil, time.Now)
	if err != nil {
		return nil, 0, err
	}
	s.take = func(w *worker, q *request, _ exact.Place) { w.takeProfile(q) }
	values := map[int][]float64{}
	if o.dump != "" {
		s.book.Each = func(id int, v [2]float64) { values[id] = append(values[id], v[0]) }
	}
	read, err := s.run(ctx, in, stderr)
	if err != nil {
		return nil, 0, err
	}
	return s.profile(values), read, nil
}

// profile puts together what the workers counted.
func (s *scan) profile(values map[int][]float64) profile {
	names := s.book.Names()
	stats := make(profile, len(names))
	for _, w := range s.workers {
		for _, c := range w.classes {
			st := stats[c.id]
			if st == nil {
				st = &stat{minBody: c.minBody, maxBody: c.maxBody}
				stats[c.id] = st
			}
			st.n += c.n
			for i, n := range c.status {
				st.status[i] += n
			}
			st.minBody, st.maxBody = min(st.minBody, c.minBody), max(st.maxBody, c.maxBody)
			st.steps = c.tally.Append(st.steps, w.frac, 1)
		}
	}
	out := make(profile, 0, len(names))
	for _, id := range s.book.Order() {
		st := stats[id]
		st.method, st.uri, _ = strings.Cut(names[id], string(rune(keyEnd)))
		sums := s.book.Sums(id)
		st.sum, st.sumBody = sums[0], sums[1]
		st.steps, st.values = exact.Ascending(st.steps), values[id]
		out = append(out, st)
	}
	return out
}

func (s *stat) min() float64    { return s.steps[0].Value }
func (s *stat) max() float64    { return s.steps[len(s.steps)-1].Value }
func (s *stat) avg() float64    { return s.sum / float64(s.n) }
func (s *stat) stddev() float64 { return exact.StdDev(s.steps, s.avg(), s.n) }

// percentile returns the time at index (n+1)·p/100 - 1, rounded down, of all n
// times in ascending order.
func (s *stat) percentile(p int) float64 {
	return exact.At(s.steps, (int64(s.n)+1)*int64(p)/100-1)
}

// A figure is a number of a class. A count has no decimals.
type figure struct {
	key, title string
	count      bool
	of         func(*stat) float64
}

// figuresOf returns those of all columns but method and URI.
func figuresOf(percentiles []int) []figure {
	out := []figure{{"count", "Count", true, func(s *stat) float64 { return float64(s.n) }}}
	for i := 1; i <= 5; i++ {
		key := fmt.Sprintf("%dxx", i)
		out = append(out, figure{key, key, true, func(s *stat) float64 { return float64(s.status[i]) }})
	}
	out = append(out,
		figure{"min", "Min", false, (*stat).min},
		figure{"max", "Max", false, (*stat).max},
		figure{"sum", "Sum", false, func(s *stat) float64 { return s.sum }},
		figure{"avg", "Avg", false, (*stat).avg})
	for _, p := range percentiles {
		out = append(out, percentileFigure(p))
	}
	return append(out,
		figure{"stddev", "Stddev", false, (*stat).stddev},
		figure{"min_body", "Min(Body)", false, func(s *stat) float64 { return s.minBody }},
		figure{"max_body", "Max(Body)", false, func(s *stat) float64 { return s.maxBody }},
		figure{"sum_body", "Sum(Body)", false, func(s *stat) float64 { return s.sumBody }},
		figure{"avg_body", "Avg(Body)", false, func(s *stat) float64 { return s.sumBody / float64(s.n) }})
}

func percentileFigure(p int) figure {
	key := "p" + strconv.Itoa(p)
	return figure{key, strings.ToUpper(key), false, func(s *stat) float64 { return s.percentile(p) }}
}

// less returns the order of --sort.
func (o *options) less() (func(a, b *stat) bool, error) {
	switch o.sort {
	case "uri":
		return func(a, b *stat) bool { return a.uri < b.uri }, nil
	case "method":
		return func(a, b *stat) bool { return a.method < b.method }, nil
	}
	list := figuresOf(nil)
	if p, err := strconv.Atoi(strings.TrimPrefix(o.sort, "p")); err == nil && o.sort[0] == 'p' && p >= 0 && p <= 100 {
		list = append(list, percentileFigure(p))
	}
	for _, f := range list {
		if strings.ReplaceAll(f.key, "_", "-") == o.sort && !strings.HasSuffix(f.key, "xx") {
			return func(a, b *stat) bool { return f.of(a) < f.of(b) }, nil
		}
	}
	return nil, fmt.Errorf("--sort %q: want count, uri, method, max, min, sum, avg, stddev, pN, max-body, min-body, sum-body or avg-body", o.sort)
}

// sorted returns the profile in the order of --sort. Rows that tie stand where
// sort.Slice leaves them, as in alp.
func (p profile) sorted(o *options) (profile, error) {
	less, err := o.less()
	if err != nil {
		return nil, err
	}
	out := append(profile(nil), p...)
	sort.Slice(out, func(i, j int) bool {
		if o.reverse {
			return less(out[j], out[i])
		}
		return less(out[i], out[j])
	})
	return out, nil
}

// cut leaves the classes of a sorted profile that --limit allows, those with the
// largest values.
func (p profile) cut(o *options, stderr io.Writer) profile {
	if o.limit <= 0 || len(p) <= o.limit {
		return p
	}
	fmt.Fprintf(stderr, "alp: --limit: %d of %d URIs are shown, those with the largest %s; -m groups them\n", o.limit,
		len(p), o.sort)
	if o.reverse {
		return p[:o.limit]
	}
	return p[len(p)-o.limit:]
}
