package alp

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sort"
	"strconv"
	"strings"
	"time"

	"github.com/kasoku/kasoku/compat/exact"
	"github.com/kasoku/kasoku/logs/lines"
)

// topDefault is how many requests topN shows.
const topDefault = 50

// runTop prints the first n requests of a log, sorted by --sort. Of those that
// tie the earlier line comes first.
func (o *options) runTop(ctx context.Context, args []string, in []lines.Input, stdout, stderr io.Writer) error {
	n := topDefault
	if len(args) > 0 {
		var err error
		if n, err = strconv.Atoi(args[0]); err != nil {
			return fmt.Errorf("topN %q: want a number of requests", args[0])
		}
	}
	if o.sort != "restime" && o.sort != "bytes" {
		return fmt.Errorf("--sort %q: want restime or bytes", o.sort)
	}
	o.uris.query = true // requests are shown whole
	s, err := newScan(o, nil, time.Now)
	if err != nil {
		return err
	}
	all := exact.Top[[]string]{Keep: n, Smallest: !o.reverse}
	for _, w := range s.workers {
		w.top = all
	}
	s.take = func(w *worker, q *request, p exact.Place) {
		p.Value = q.took.Value
		if o.sort == "bytes" {
			p.Value = q.body
		}
		if w.top.Wants(p) {
			w.top.Put(p, []string{string(q.name), string(q.method), strconv.Itoa(q.status),
				numberCell(q.took.Value, false).text, numberCell(q.body, false).text, string(q.time)})
		}
	}
	read, err := s.run(ctx, in, stderr)
	if err != nil {
		return err
	}
	for _, w := range s.workers {
		all.Merge(&w.top)
	}
	if err := o.topTable(all.List()).print(stdout, o); err != nil {
		return err
	}
	return o.pos.save(read)
}

func (o *options) topTable(list []exact.Ranked[[]string]) *table {
	t := &table{
		titles: []string{"", "Uri", "Method", "Status", "Response Time", "Body Bytes", "Time"},
		keys:   []string{"rank", "uri", "method", "status", "restime", "bytes", "time"},
	}
	for i, r := range list {
		row := []cell{numberCell(float64(i+1), true)}
		for n, text := range r.Item {
			if n == 0 && o.uris.decode {
				text = decodeName(text)
			}
			row = append(row, cell{text, n >= 2 && n <= 4})
		}
		t.rows = append(t.rows, row)
	}
	return t
}

// runCount prints how often each combination of values occurs.
func (o *options) runCount(ctx context.Context, in []lines.Input, stdout, stderr io.Writer) error {
	if o.keys == "" {
		return errors.New("count: --keys is required")
	}
	keys := strings.Split(o.keys, ",")
	s, err := newScan(o, keys, time.Now)
	if err != nil {
		return err
	}
	s.take = func(w *worker, q *request, _ exact.Place) {
		w.key = w.key[:0]
		for _, v := range q.values[numValues:] {
			if v == nil {
				return // a request without one of them does not count
			}
			w.key = append(append(w.key, v...), keyEnd)
		}
		c := w.named()
		c.n++
		w.batch.Add(c.id, [2]float64{})
	}
	if _, err := s.run(ctx, in, stderr); err != nil {
		return err
	}
	return s.countTable(keys, o.reverse).print(stdout, o)
}

func (s *scan) countTable(keys []string, reverse bool) *table {
	sums := make([]uint64, len(s.book.Names()))
	for _, w := range s.workers {
		for _, c := range w.classes {
			sums[c.id] += c.n
		}
	}
	ids := append([]int(nil), s.book.Order()...)
	sort.Slice(ids, func(i, j int) bool {
		if reverse {
			return sums[ids[i]] > sums[ids[j]]
		}
		return sums[ids[i]] < sums[ids[j]]
	})
	t := &table{titles: append([]string{"sum"}, keys...), keys: append([]string{"sum"}, keys...)}
	for _, id := range ids {
		row := []cell{numberCell(float64(sums[id]), true)}
		values := strings.Split(s.book.Names()[id], string(rune(keyEnd)))
		for i := range keys {
			row = append(row, cell{values[i], isNumber(values[i])})
		}
		t.rows = append(t.rows, row)
	}
	return t
}

// isNumber reports whether a text is a number as JSON writes it, so that 007 and
// NaN stay what they are.
func isNumber(s string) bool {
	_, end, ok := plainNumber([]byte(s), 0)
	return ok && end == len(s)
}
