package accesslog

import (
	"math"
	"time"

	"github.com/kasoku/kasoku/logs"
	"github.com/kasoku/kasoku/logs/accessformat"
	"github.com/kasoku/kasoku/logs/routes"
)

// A Table adds up records. It is not safe for concurrent use; tables that
// [Table.beside] made may be used each by its own goroutine.
type Table struct {
	opts   Options
	by     *grouping
	reg    *registry
	mapper *routes.Mapper
	filter *filterRun // nil without one
	rows   seriesRows
	slow   slowest
	bots   botCache
	named  namedBots // with Options.Detail
	keys   keyReports

	key, resolved []byte
	placed        placed
	final         *settled // nil after a change

	counts     recordCounts
	withExtra  []bool // of by.extra: some record has it
	wantsBots  bool   // bots are recognised before anything else
	onlyRecent bool   // there is a since or until
	detail     *uris  // nil without Options.Detail
}

// recordCounts are what became of the records of a table.
type recordCounts struct {
	records   uint64 // in the rows
	outside   uint64
	unwanted  uint64 // left out by Where or Bots
	untimed   uint64
	unstamped uint64
	seconds   uint64 // of which rows keep the request times
}

// NewTable returns an empty table.
func NewTable(o Options) *Table {
	if o.MaxRoutes <= 0 {
		o.MaxRoutes = defaultMaxRoutes
	}
	if o.Routes == nil {
		o.Routes = routes.Automatic()
	}
	by := newGrouping(o.By, o.Location)
	t := &Table{opts: o, by: by, reg: newRegistry(by, &o)}
	t.init()
	return t
}

// beside returns an empty table that shares the decisions about keys with t.
func (t *Table) beside() *Table {
	n := &Table{opts: t.opts, by: t.by, reg: t.reg, keys: keyReports{inBlocks: true}}
	n.init()
	return n
}

// Next returns an empty table for what comes after, which goes on with what t decided
// about keys, so that the rows of both have the same ones and Merge adds them quickly.
// No record is added to t from then on.
func (t *Table) Next() *Table {
	n := &Table{opts: t.opts, by: t.by, reg: t.reg}
	n.init()
	n.detail = t.detail
	n.refold()
	n.keys.welcome(&n.rows, math.MaxInt)
	return n
}

func (t *Table) init() {
	t.mapper, t.rows = t.opts.Routes.Mapper(), newSeriesRows(t.opts.buckets())
	t.slow.max, t.named = max(t.opts.Slowest, 0), namedBots{}
	t.keys.reg, t.keys.ballot = t.reg, &ballot{}
	t.withExtra = make([]bool, len(t.by.extra))
	t.wantsBots = t.opts.Bots != BotsToo
	t.onlyRecent = !t.opts.Since.IsZero() || !t.opts.Until.IsZero()
	if t.opts.Detail {
		t.detail = &uris{}
	}
	if t.opts.Where != nil {
		t.filter = t.opts.Where.run()
	}
}

// Parser returns a parser that gives records all that the table wants of them.
func (t *Table) Parser(f *accessformat.Format) *accessformat.Parser {
	return f.Parser(accessformat.ParserOptions{Location: t.opts.Location, Extra: t.by.extra})
}

// Follower returns a follower of a log whose records are for the table. A nil format
// is found.
func (t *Table) Follower(path string, f *accessformat.Format) *accessformat.Follower {
	return accessformat.NewFollower(path, f, accessformat.ParserOptions{Location: t.opts.Location, Extra: t.by.extra})
}

// Add adds a record, of a parser as [Table.Parser] gives.
func (t *Table) Add(r *accessformat.Record) { t.add(r, place{offset: r.Offset}) }

// mostBySecond bounds the seconds of which the routes of a table keep the request times, together: some 60 MB.
const mostBySecond = 1 << 19

func (t *Table) add(r *accessformat.Record, at place) {
	t.final = nil
	if !t.place(r) {
		t.counts.outside++
		return
	}
	if t.wantsBots && t.bots.is(r.UserAgent) != (t.opts.Bots == BotsOnly) || t.filter != nil && !t.filter.holds(r, t) {
		t.counts.unwanted++
		return
	}
	t.counts.records++
	w := t.row(r)
	w.add(r)
	if r.Has&accessformat.HasTime != 0 {
		w.first, w.last = min(w.first, t.placed.at), max(w.last, t.placed.at)
		var failed uint32
		if r.Status >= 500 {
			failed = 1
		}
		w.series.add(t.placed.bucket, failed)
		if len(w.series.buckets) > t.rows.most {
			t.rows.coarsen(longerStep(t.rows.step))
			t.placed.known = false
		}
		if t.opts.Seconds && r.Has&accessformat.HasLatency != 0 && t.counts.seconds <= mostBySecond &&
			w.series.bySecond.Record(floorDiv(t.placed.at, int64(time.Second)), r.Latency) {
			t.counts.seconds++
		}
	} else {
		t.counts.unstamped++
	}
	if len(r.UserAgent) > 0 && t.bots.is(r.UserAgent) {
		w.bots++
	}
	if t.detail != nil {
		t.detail.add(w, r, t)
	}
	if r.Has&accessformat.HasLatency == 0 {
		t.counts.untimed++
	} else if t.slow.wants(r.Latency) {
		t.addSlow(r, at)
	}
	for i := range t.withExtra {
		t.withExtra[i] = t.withExtra[i] || i < len(r.Extra) && r.Extra[i] != nil
	}
}

// placed is where the time of the last record lies; hundreds of requests share a
// second.
type placed struct {
	unix       int64
	resolution time.Duration
	known      bool
	inside     bool
	at         int64 // ns since offset 0
	bucket     int64 // in steps
}

// place finds out when a record was logged and whether it belongs to the table.
func (t *Table) place(r *accessformat.Record) (inside bool) {
	p := &t.placed
	if r.Has&accessformat.HasTime == 0 {
		return !t.onlyRecent
	}
	if p.known && p.unix == r.Unix && p.resolution == r.Resolution {
		return p.inside
	}
	*p = placed{unix: r.Unix, resolution: r.Resolution, known: true, inside: true, at: r.Unix}
	if t.opts.Clock != nil {
		at, inside := logs.Place(t.opts.Interval, t.opts.Clock(r.Time()), r.Resolution)
		p.at, p.inside = int64(at), inside
	}
	if t.onlyRecent {
		when := r.Time()
		p.inside = p.inside && !when.Before(t.opts.Since) && (t.opts.Until.IsZero() || when.Before(t.opts.Until))
	}
	p.bucket = floorDiv(p.at, int64(t.rows.step))
	return p.inside
}

// row returns the row of a record.
func (t *Table) row(r *accessformat.Record) *row {
	t.key = t.appendKey(t.key[:0], r)
	if t.keys.counts {
		t.keys.count(&t.rows, t.key)
	}
	hash := t.rows.hash(t.key)
	if w := t.rows.get(hash, t.key); w != nil {
		return w
	}
	return t.meet(r)
}

// meet returns the row of the present key, that of a record, which has none of its own.
func (t *Table) meet(r *accessformat.Record) *row {
	if w := t.keys.row(&t.rows, t.key); w != nil {
		return w
	}
	var known bool
	t.resolved, known = t.reg.resolve(t.resolved[:0], t.key)
	switch {
	case known:
	case !t.keys.inBlocks:
		t.reg.add(t.key)
		t.refold()
		t.place(r) // the step may be longer now
		t.resolved, _ = t.reg.resolve(t.resolved[:0], t.key)
	case t.rows.get(t.rows.hash(t.resolved), t.resolved) == nil:
		t.keys.fresh = appendLong(t.keys.fresh, t.resolved)
	}
	return t.rows.of(t.resolved)
}

// endBlock hands in the keys that were met first in a block.
func (t *Table) endBlock(number int) {
	t.reg.submit(number, handed{t.keys.fresh, t.keys.takeResult()})
	t.keys.fresh = t.keys.fresh[:0]
	t.refold()
}

// refold puts the rows in order after new decisions of the registry.
func (t *Table) refold() {
	version := t.reg.version.Load()
	if version == t.keys.version {
		return
	}
	t.keys.version = version
	t.keys.counts = t.keys.counts || !t.keys.inBlocks
	rows := t.rows
	t.rows.slots, t.rows.n = make([]*row, 256), 0
	var moved []*row
	rows.each(func(w *row) {
		t.resolved = t.reg.rowKey(t.resolved[:0], w)
		if string(t.resolved) == w.key {
			t.rows.put(w)
		} else {
			moved = append(moved, w)
		}
	})
	for _, w := range moved {
		t.resolved = t.reg.rowKey(t.resolved[:0], w)
		t.rows.merge(t.resolved, w, rows.step)
	}
	t.placed.known = false
}

// addSlow adds a record, whose key is the present one, to the slowest.
func (t *Table) addSlow(r *accessformat.Record, at place) {
	var route []byte
	if t.by.route >= 0 {
		from, to := t.by.routeOf(t.key)
		route = t.key[from:to]
	} else {
		t.resolved = t.appendRoute(t.resolved[:0], r)
		route = t.resolved
	}
	s := slow{
		latency: r.Latency, upstream: r.Upstream, place: at, status: r.Status, bytes: r.Bytes,
		route: route, method: r.Method, uri: r.Path,
	}
	if r.Has&accessformat.HasTime != 0 {
		s.at, s.stamped = t.placed.at, true
	}
	if len(s.uri) == 0 {
		s.uri = r.Request
	}
	t.slow.add(s)
}

// Merge adds another table, of another log or of a part of the same one. Both
// have the same Options, but for the clock.
func (t *Table) Merge(o *Table) {
	t.final = nil
	if o.reg != t.reg {
		for _, key := range o.reg.order {
			t.reg.add([]byte(key))
		}
	}
	t.refold()
	o.refold()
	t.rows.coarsen(o.rows.step)
	o.rows.each(func(w *row) {
		t.resolved = t.reg.rowKey(t.resolved[:0], w)
		t.rows.merge(t.resolved, w, o.rows.step)
	})
	t.placed.known = false
	for _, s := range o.slow.sorted() {
		if t.slow.wants(s.latency) {
			t.slow.add(s)
		}
	}
	for _, b := range o.named {
		t.named.count(b)
	}
	t.counts.records += o.counts.records
	t.counts.outside += o.counts.outside
	t.counts.unwanted += o.counts.unwanted
	t.counts.untimed += o.counts.untimed
	t.counts.unstamped += o.counts.unstamped
	t.counts.seconds += o.counts.seconds
	for i := range min(len(t.withExtra), len(o.withExtra)) {
		t.withExtra[i] = t.withExtra[i] || o.withExtra[i]
	}
}
