package watch

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
	"time"

	"github.com/kasoku/kasoku/internal/contain"
	"github.com/kasoku/kasoku/internal/unit"
	hostkeys "github.com/kasoku/kasoku/observe/host"
	"github.com/kasoku/kasoku/observe/mysql"
	"github.com/kasoku/kasoku/report/terminal"
)

// Lines writes one line a second, for who reads no screen: until the context ends,
// or without a feed until the data does. The heads come again after each page.
func Lines(ctx context.Context, w io.Writer, m *Model) error {
	m.o.Color = false
	l := &lineWriter{Model: m, w: w, shown: map[string]bool{}}
	if m.feed == nil {
		for m.at = m.first(); m.at <= m.last(); m.at++ {
			if err := l.containedLine(m.at - m.first()); err != nil || ctx.Err() != nil {
				return err
			}
		}
		return nil
	}
	clock := time.NewTicker(time.Second)
	defer clock.Stop()
	next := max(m.last(), 1)
	for n := 0; ; {
		ended := false
		select {
		case <-ctx.Done():
			ended = true
		case <-clock.C:
		}
		_ = contain.Run(panel("update"), m.Tick) // the data before stands
		ended = ended || !m.data.Live
		to := m.last()
		if !ended {
			to -= handOver
		}
		for next = max(next, m.first()); next <= to; next++ {
			m.at = next
			if err := l.containedLine(n); err != nil {
				return err
			}
			n++
		}
		if ended {
			return nil
		}
	}
}

// A lineWriter writes what a model shows as lines.
type lineWriter struct {
	*Model
	w     io.Writer
	shown map[string]bool // findings and gaps
}

// handOver is how many seconds a load may take until it has handed over a second.
const handOver = 2

// page is after how many lines the heads come again.
const page = 20

// A figure of a line: its head, its width and where it comes from.
type figure struct {
	head  string
	width int
	value string
}

// containedLine writes a line. One that panics is a line that says so.
func (l *lineWriter) containedLine(n int) error {
	err := contain.Do(panel("line"), func() error { return l.writeLine(n) })
	if bug := new(contain.Bug); errors.As(err, &bug) {
		_, err = fmt.Fprintf(l.w, "# this line is lost: %s\n", clean(bug.Error()))
	}
	return err
}

func (l *lineWriter) writeLine(n int) error {
	figures := l.figures()
	var head, text strings.Builder
	for i, f := range figures {
		if i > 0 {
			head.WriteString("  ")
			text.WriteString("  ")
		}
		head.WriteString(padLeft(f.head, f.width))
		text.WriteString(padLeft(f.value, f.width))
	}
	out := strings.TrimRight(text.String(), " ") + "\n"
	if n%page == 0 {
		out = head.String() + "\n" + out
	}
	for _, e := range l.data.Rec.Events {
		if secondOf(e.At) == l.at {
			out += "# " + l.data.clock(l.at) + " " + clean(e.Kind+": "+e.Text) + "\n"
		}
	}
	for _, g := range l.data.Rec.Gaps {
		begins := secondOf(g.Interval.From) == l.at
		if l.feed != nil { // a source may be late to say that it misses
			begins = secondOf(g.Interval.From) <= l.at && l.at <= secondOf(g.Interval.To)+1 && l.news(fmt.Sprint("gap ", g.Source, g.Interval.From))
		}
		if begins {
			out += "# " + l.data.clock(l.at) + " gap: " + clean(g.Source+": "+g.Reason) + "\n"
		}
	}
	for i := range l.data.Findings {
		if f := &l.data.Findings[i]; l.feed == nil && secondOf(f.Interval.From) == l.at || l.feed != nil && l.news(f.ID) {
			out += "# " + l.data.clock(l.at) + " " + clean(f.ID+": "+f.Title) + "\n"
		}
	}
	if l.o.ASCII {
		out = terminal.ASCII(out)
	}
	_, err := io.WriteString(l.w, out)
	return err
}

// news reports whether a finding was not shown yet.
func (l *lineWriter) news(id string) bool {
	was := l.shown[id]
	l.shown[id] = true
	return !was
}

// figures are those of a line: always the same ones, whatever there is.
func (l *lineWriter) figures() []figure {
	d, s := l.data, span{l.at - 1, l.at}
	mib := func(v float64) string { return number(v / (1 << 20)) }
	host := func(name string) float64 { return d.valueAt(d.one(hostkeys.Name, name), l.at) }
	db := func(name string) float64 { return d.valueAt(d.one(mysql.Name, name), l.at) }
	mode := func(name string) string {
		v := host(name)
		if math.IsNaN(v) {
			return unit.Missing
		}
		return unit.Fixed(v, 2)
	}
	disk, _ := d.busiestDisk(s)
	point, ok := d.Load.points[l.at-1]
	good, failed, p99 := math.NaN(), math.NaN(), math.NaN()
	if ok {
		good, failed, p99 = float64(point.Good), float64(point.Failed), point.P99.Seconds()*1e3
	}
	used := host(hostkeys.MemTotal) - host(hostkeys.MemAvailable)
	return []figure{
		{"time", 8, d.clock(l.at)},
		{"user", 5, mode(hostkeys.CPUUser)}, {"sys", 5, mode(hostkeys.CPUSystem)}, {"iowait", 6,
			mode(hostkeys.CPUIowait)},
		{"run", 4, count(host(hostkeys.ProcsRunning))}, {"memMiB", 7, mib(used)},
		{"disk%", 5, number(100 * last(disk))},
		{"inMB/s", 6, number(last(d.sum(d.named(hostkeys.Name, hostkeys.NetRxBytes, outside), s.from, s.to)) / 1e6)},
		{"outMB/s", 7, number(last(d.sum(d.named(hostkeys.Name, hostkeys.NetTxBytes, outside), s.from, s.to)) / 1e6)},
		{"sql/s", 6, number(db(mysql.Questions))}, {"running", 7, count(db(mysql.ThreadsRunning))},
		{"locks/s", 7, number(db(mysql.InnodbRowLockWaits))},
		{"req/s", 6, number(d.requestsAt(l.at))}, {"5xx/s", 5, number(last(d.answered(s, "5xx")))},
		{"ok/s", 6, count(good)}, {"fail/s", 6, count(failed)}, {"p99ms", 6, number(p99)},
	}
}
