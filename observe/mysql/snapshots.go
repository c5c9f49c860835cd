package mysql

import (
	"context"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/mysql"
)

// The names of the sources that read every ten seconds.
const (
	DigestsName = "digests"
	TablesName  = "tables"
)

const (
	mostCounted = 5000 // of statements that are counted: several can share a series
	mostDigests = 100  // classes of statements that have series
	mostUses    = 100  // tables, and as many indexes
	longestName = 160  // bytes of a statement in the name of a series
	idBytes     = 16   // of a class, where its statement is cut
)

// Digests is the source "digests": how often the statements of each class ran, and for how
// long, as the server's performance_schema counts them, every ten seconds. It never empties
// that table.
//
// A class has series from when it is first seen: at the start those with the most time, later
// those that run, a hundred in all; "dropped" is how many more were active. When more were
// active than are read, those that were not read have no value at that tick. "lost" counts the
// statements that the server has in no class, because its own table is full.
//
// The first value of a series holds all that its class did before; rates begin with the
// second. Classes with one text share series: of one that joins later, what it did before
// counts only if it is new on the server since the last reading.
type Digests struct {
	part
	shape   Shape
	classes map[mysql.DigestKey]*class
	series  []digestSeries
	cut     bool // more classes were active at the last reading than were read
}

// A class is one of the server's, with its last counts.
type class struct {
	now    mysql.DigestCount
	base   mysql.DigestCount // what it had done before it joined its series
	series int               // several schemas may share one
	read   bool              // at the last tick
}

// A digestSeries is what has one name.
type digestSeries struct {
	name                  string
	calls, examined, sent uint64
	time                  time.Duration
	missed                bool // what one of its classes did is not known
}

// Name returns "digests".
func (s *Digests) Name() string { return DigestsName }

// Collect reads the classes that ran since the last time.
func (s *Digests) Collect(ctx context.Context, f *kasoku.Frame) error {
	if !s.d.Of.ready() {
		return nil
	}
	return s.ask(ctx, func(ctx context.Context, r detailReader) (time.Duration, error) {
		var within time.Duration
		if !s.began.IsZero() {
			within = time.Since(s.began) + time.Second // the server reports whole seconds
		}
		got, ok, err := r.ActiveDigests(ctx, within, mostDigests)
		if err != nil || !ok {
			return snapshotEvery, err
		}
		dropped := s.take(got.Classes) + int(got.Cut)
		s.cut = got.Cut > 0
		s.emit(f)
		f.Counter(DigestsLost, "", "count", float64(got.Lost))
		f.Gauge(DigestsDropped, "", "count", float64(dropped))
		return snapshotEvery, nil
	})
}

// take notes the counts and returns how many classes have no series.
func (s *Digests) take(all []mysql.DigestCount) (dropped int) {
	for _, c := range s.classes {
		c.read = false
	}
	before := len(s.series) // those further on begin with this tick
	for _, c := range all {
		if s.d.Of.others(c.Key.Schema, c.Text) {
			continue
		}
		known := s.classes[c.Key]
		if known == nil {
			i := s.place(&c)
			if i < 0 {
				dropped++
				continue
			}
			if len(s.classes) == mostCounted {
				dropped++
				continue
			}
			known = &class{series: i}
			if i < before && (!c.New || s.cut) {
				known.base = c
				known.base.Text = "" // its series has the name
			}
			s.classes[c.Key] = known
		}
		if b := &known.base; c.Calls < b.Calls || c.Total < b.Total || c.RowsExamined < b.RowsExamined ||
			c.RowsSent < b.RowsSent {
			known.base = mysql.DigestCount{} // the server counts anew
		}
		c.Text = ""
		known.now, known.read = c, true
	}
	return dropped
}

// place returns the series of a class, below 0 when there are too many.
func (s *Digests) place(c *mysql.DigestCount) int {
	name, _ := s.shape(c.Text)
	if name == "" {
		name = c.Text
	}
	name = shortenTo(name, c.Key.ID)
	if i := slices.IndexFunc(s.series, func(x digestSeries) bool { return x.name == name }); i >= 0 {
		return i
	}
	if len(s.series) == mostDigests {
		return -1
	}
	s.series = append(s.series, digestSeries{name: name})
	return len(s.series) - 1
}

// shorten returns a text of one line that is no longer than a name may be.
func shorten(text string) string { return shortenTo(text, "") }

// shortenTo does the same; a text that is cut ends with the beginning of an id, so
// that others that begin alike have other names.
func shortenTo(text, id string) string {
	text = strings.Join(strings.Fields(strings.ToValidUTF8(text, "?")), " ")
	if len(text) <= longestName {
		return text
	}
	end := "…"
	if id != "" {
		end += " " + strings.ToValidUTF8(id[:min(len(id), idBytes)], "?")
	}
	cut := longestName - len(end)
	for !utf8.RuneStart(text[cut]) {
		cut--
	}
	return text[:cut] + end
}

// IsOthers reports whether all classes of a series are others', by what is known now: of a session that
// was seen later, a class may have series by then. Not while Collect runs.
func (s *Digests) IsOthers(series string) bool {
	others := false
	for k, c := range s.classes {
		if s.series[c.series].name == series {
			if others = s.d.Of.others(k.Schema, series); !others {
				return false
			}
		}
	}
	return others
}

// emit appends the sums of each series. A class that was not read was idle, unless
// the answer was cut.
func (s *Digests) emit(f *kasoku.Frame) {
	for i := range s.series {
		s.series[i] = digestSeries{name: s.series[i].name}
	}
	for _, c := range s.classes {
		x := &s.series[c.series]
		x.calls += c.now.Calls - c.base.Calls
		x.time += c.now.Total - c.base.Total
		x.examined += c.now.RowsExamined - c.base.RowsExamined
		x.sent += c.now.RowsSent - c.base.RowsSent
		x.missed = x.missed || s.cut && !c.read
	}
	for i := range s.series {
		x := &s.series[i]
		if x.missed {
			continue
		}
		f.Counter(DigestsCalls, x.name, "count", float64(x.calls))
		f.Counter(DigestsTime, x.name, "s", x.time.Seconds())
		f.Counter(DigestsRowsExamined, x.name, "count", float64(x.examined))
		f.Counter(DigestsRowsSent, x.name, "count", float64(x.sent))
	}
}

// Tables is the source "tables": how many rows of each table were read and written,
// through which index, and for how long, every ten seconds, where the server counts
// that: MySQL does by itself, MariaDB with performance_schema or userstat.
//
// A table is named db.table, an index db.table.index. Once seen, it has series; a
// hundred of each at most.
type Tables struct {
	part
	uses    map[useKey]*mysql.Use
	order   []useKey
	indexes int
}

type useKey struct{ schema, table, index string }

// Name returns "tables".
func (s *Tables) Name() string { return TablesName }

// Collect reads how much the tables were used.
func (s *Tables) Collect(ctx context.Context, f *kasoku.Frame) error {
	if !s.d.Of.ready() {
		return nil
	}
	return s.ask(ctx, func(ctx context.Context, r detailReader) (time.Duration, error) {
		all, ok, err := r.TableUse(ctx, mostUses)
		if err != nil || !ok {
			return snapshotEvery, err
		}
		s.take(all)
		for _, k := range s.order {
			emitUse(f, s.uses[k])
		}
		return snapshotEvery, nil
	})
}

// take notes how much was used.
func (s *Tables) take(all []mysql.Use) {
	for i := range all {
		u := &all[i]
		if s.d.Of.others(u.Schema, "") {
			continue
		}
		k := useKey{u.Schema, u.Table, u.Index}
		if s.uses[k] == nil {
			if u.Index == "" && len(s.order)-s.indexes == mostUses || u.Index != "" && s.indexes == mostUses {
				continue
			}
			if u.Index != "" {
				s.indexes++
			}
			s.order = append(s.order, k)
		}
		s.uses[k] = u
	}
}

// IsOthers reports whether a series is of a table or an index of others, by what is known now. Not while
// Collect runs.
func (s *Tables) IsOthers(series string) bool {
	return slices.ContainsFunc(s.order, func(k useKey) bool {
		return k.seriesName() == series && s.d.Of.others(k.schema, "")
	})
}

// seriesName returns db.table or db.table.index.
func (k useKey) seriesName() string {
	name := shorten(k.schema + "." + k.table)
	if k.index != "" {
		return shorten(name + "." + k.index)
	}
	return name
}

func emitUse(f *kasoku.Frame, u *mysql.Use) {
	name := useKey{u.Schema, u.Table, u.Index}.seriesName()
	if u.Index != "" {
		f.Counter(TablesIndexRowsRead, name, "count", float64(u.Read))
		return
	}
	f.Counter(TablesRowsRead, name, "count", float64(u.Read))
	f.Counter(TablesRowsWritten, name, "count", float64(u.Written))
	if u.Reading+u.Writing > 0 {
		f.Counter(TablesReadTime, name, "s", u.Reading.Seconds())
		f.Counter(TablesWriteTime, name, "s", u.Writing.Seconds())
	}
}
