package ptquerydigest

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/kasoku/kasoku/internal/lazyregexp"
	"github.com/kasoku/kasoku/logs/lines"
	"github.com/kasoku/kasoku/logs/slowlog"
	"github.com/kasoku/kasoku/logs/sqlshape"
)

// ignoredAttributes are no figures but labels of single events.
var ignoredAttributes = []string{
	"Id", "Thread_id", "timestamp", "Schema", "Xid", "arg", "cmd", "end_log_pos", "exptime", "flags", "insert_id",
	"ip", "key",
	"last_insert_id", "offset", "port", "res", "server_id", "val",
	"Log_slow_rate_limit", "Log_slow_rate_type", // rateLimit reports both
	"Start", "End", // times of log_slow_extra, one per event
}

// A reading is one pass over the logs for one grouping.
type reading struct {
	o      *options
	stderr io.Writer // gets messages about lines that are not understood
	in     []lines.Input
	by     string
	order  order
	iso    bool                   // times look like 2026-11-20T08:38:36
	echo   func(e *slowlog.Event) // prints each event; nil does not

	gate    gate
	shaper  sqlshape.Shaper
	db      []byte // of the last event that named one, of those that the gate let through
	places  int    // decimals of the first Query_time, -1 before it
	first   []int64
	seen    map[string]int    // events by fingerprint, for --sample
	classes []*extra          // by number, from 1
	whole   [2]float64        // Query_time and Lock_time added up in the order of the log; the sum of sums differs in its last bits
	others  map[string]*total // likewise the other times
}

// An extra is what a class keeps beside its statistics.
type extra struct {
	sample            sample
	last              int64 // greatest offset of an event
	users, hosts, dbs counts
	texts             map[string]*counts // of textAttributes
}

// counts counts values.
type counts struct {
	of   map[string]*value
	last *value // that most often comes again
}

func (c *counts) add(text []byte) {
	if len(text) == 0 {
		return
	}
	if c.last == nil || c.last.text != string(text) {
		v := c.of[string(text)]
		if v == nil {
			if c.of == nil {
				c.of = map[string]*value{}
			}
			v = &value{text: string(text)}
			c.of[v.text] = v
		}
		c.last = v
	}
	c.last.n++
}

// read reads the logs into a digest.
func (r *reading) read(ctx context.Context) (*digest, error) {
	r.places = -1
	o := slowlog.Options{
		Kind: slowlog.Slow, Split: slowlog.SplitNone, Attributes: true, MaxQueries: maxClasses,
		Where: r.where, Each: r.each, Own: true,
	}
	switch r.by {
	case byFingerprint:
	case "user":
		o.By = slowlog.ByUser
	case "host":
		o.By = slowlog.ByHost
	case "db":
		o.By = slowlog.BySchema
	case byDistill:
		o.By, o.Group = slowlog.ByGroup, func(sql []byte) string { return distillStatement(string(sql)) }
	default:
		return nil, badOption("--group-by %s is not carried out by kasoku: want fingerprint, distill, user, db or host", r.by)
	}
	in := r.in
	if r.o.kind != "slowlog" {
		var stop func()
		in, stop = convertInputs(r.in, r.o.kind)
		defer stop()
	}
	t, windows, err := slowlog.CollectAll(ctx, in, o, nil)
	if err != nil {
		return nil, err
	}
	for _, w := range windows {
		if w.Dropped > 0 && len(w.BadSample) > 0 {
			bad := w.BadSample[0]
			fmt.Fprintf(r.stderr, "%s: %d of %d lines of %s are not understood; the first is line %d, %s: %q\n", name,
				w.Dropped, w.Lines, w.Path, bad.Line, bad.Why, bad.Text)
		}
	}
	d := &digest{groupBy: r.by}
	overall := t.Overall()
	d.overall = *r.class(&overall, nil)
	r.reorder(&d.overall)
	for _, c := range t.Classes() {
		d.classes = append(d.classes, r.class(&c, r.classes[c.Number]))
	}
	if d.overall.calls > 0 {
		d.orderedBy(r.order)
	}
	return d, nil
}

// maxClasses bounds the memory: beyond it statements are folded into one class.
const maxClasses = 200_000

// where reports whether an event counts.
func (r *reading) where(e *slowlog.Event) bool {
	for len(r.first) <= e.Input {
		r.first = append(r.first, e.Offset)
	}
	if !r.gate.pass(r.o, e) {
		return false // and no later event gets its database
	}
	if e.HasOwnSchema() && len(e.Schema) > 0 && !bytes.Equal(e.Schema, r.db) {
		r.db = bytes.Clone(e.Schema)
	}
	if !r.grouped(e) {
		return false
	}
	if r.o.filter != nil && !r.o.filter.keep(func(name string) string { return r.attributeOf(e, name) }) {
		return false
	}
	if r.o.sample > 0 {
		if r.seen == nil {
			r.seen = map[string]int{}
		}
		f := string(r.shaper.Fingerprint(e.Statement))
		if r.seen[f]++; r.seen[f] > r.o.sample {
			return false
		}
	}
	return true
}

// grouped reports whether an event has what events are grouped by.
func (r *reading) grouped(e *slowlog.Event) bool {
	switch r.by {
	case "user":
		return r.user(e) != nil
	case "host":
		return len(e.Host) > 0
	case "db":
		return len(r.db) > 0
	}
	return true
}

// user returns who sent an event, nil where the log does not say. In the slow log that
// a converter writes, [] stands for no user.
func (r *reading) user(e *slowlog.Event) []byte {
	if len(e.User) == 0 || r.o.kind != "slowlog" && string(e.User) == "[]" {
		return nil
	}
	return e.User
}

// A gate is what --since and --until let through. Since opens it until the end of the
// file, until closes it until there, as if each log were in order.
type gate struct {
	input        int
	open, closed bool
}

func (g *gate) pass(o *options, e *slowlog.Event) bool {
	if e.Input != g.input {
		*g = gate{input: e.Input}
	}
	if o.since.set && !g.open {
		if e.Logged.IsZero() || e.Logged.Before(o.since.at) {
			return false
		}
		g.open = true
	}
	if o.until.set && !g.closed && !e.Logged.IsZero() && !e.Logged.Before(o.until.at) {
		g.closed = true
	}
	return !g.closed
}

// each keeps what reports print of an event beside its figures.
func (r *reading) each(e *slowlog.Event, number int) {
	if r.echo != nil {
		r.echo(e)
	}
	if len(r.classes) == 0 {
		r.classes = append(r.classes, new(extra)) // there is no class 0
	}
	if number == len(r.classes) {
		r.classes = append(r.classes, new(extra))
	}
	x := r.classes[number]
	if r.places < 0 {
		r.places = decimalsOf(r.attributeOf(e, queryTime))
	}
	r.whole[0] += float64(e.QueryTime) / 1e9 // the float64 nearest to what the log says, which Seconds is not
	r.whole[1] += float64(e.LockTime) / 1e9
	if head := e.Head(); bytes.Contains(head, []byte("_wait: ")) ||
		bytes.Count(head, []byte("_time: ")) > len(r.whole) {
		r.addTimes(e)
	}
	x.last = max(x.last, r.offsetOf(e))
	x.users.add(r.user(e))
	x.hosts.add(e.Host)
	x.dbs.add(r.db)
	if head := e.Head(); bytes.Contains(head, []byte("_errno: ")) || bytes.Contains(head, []byte("_trx_id: ")) {
		x.addTexts(e)
	}
	if bytes.Contains(e.Head(), []byte("Log_slow_rate_limit: ")) {
		x.addText(rateLimit, []byte(cmp.Or(r.attributeOf(e, "Log_slow_rate_type"), "session")+":"+r.attributeOf(e,
			"Log_slow_rate_limit")))
	}
	if r.by != byDistill && slices.Contains(r.o.groupBy, byDistill) {
		x.addText(byDistill, []byte(distillStatement(string(e.Statement)))) // an attribute like any other
	}
	if v, ok := r.rank(e); !x.sample.seen || ok && v >= x.sample.value {
		r.take(x, e, v)
	}
}

// textAttributes are texts although their values look like numbers.
var textAttributes = []string{"Last_errno", "InnoDB_trx_id"}

func (x *extra) addTexts(e *slowlog.Event) {
	e.Attributes(func(name, v []byte) bool {
		if slices.Contains(textAttributes, string(name)) {
			x.addText(string(name), v)
		}
		return true
	})
}

func (x *extra) addText(name string, v []byte) {
	if x.texts == nil {
		x.texts = map[string]*counts{}
	}
	if x.texts[name] == nil {
		x.texts[name] = new(counts)
	}
	x.texts[name].add(v)
}

// rank is what the samples of a class are compared by: the attribute by which the
// classes are ordered, false when the event has none of it.
func (r *reading) rank(e *slowlog.Event) (float64, bool) {
	switch r.order.attr {
	case queryTime:
		return e.QueryTime.Seconds(), true
	case "Lock_time":
		return e.LockTime.Seconds(), true
	case "Rows_sent":
		return float64(e.RowsSent), true
	case "Rows_examined":
		return float64(e.RowsExamined), true
	case queryLength:
		return float64(len(e.Statement)), true
	}
	text := r.attributeOf(e, r.order.attr)
	return numberOf(text), text != ""
}

// take makes an event the sample of a class.
func (r *reading) take(x *extra, e *slowlog.Event, v float64) {
	s := &x.sample
	s.seen, s.value, s.at = true, v, e.Logged
	s.db, s.time = string(r.db), e.QueryTime
	s.statement = string(e.Statement)
	s.offset = r.offsetOf(e)
}

// offsetOf is where pt-query-digest sees an event: the first of a file at its start,
// the others after the # of their first line.
func (r *reading) offsetOf(e *slowlog.Event) int64 {
	switch {
	case e.Offset == r.first[e.Input]:
		return 0
	case r.o.kind != "slowlog":
		return int64(e.ThreadID) // see converter
	}
	return e.Offset + 1
}

// decimalsOf counts the digits after the point.
func decimalsOf(number string) int {
	_, fraction, _ := strings.Cut(number, ".")
	return len(fraction)
}

// attributeOf returns an attribute of an event as text.
func (r *reading) attributeOf(e *slowlog.Event, name string) string {
	switch name {
	case "arg":
		return string(e.Statement)
	case "bytes":
		return strconv.Itoa(len(e.Statement))
	case "cmd":
		if e.Admin {
			return "Admin"
		}
		return "Query"
	case "db":
		return string(r.db)
	case "user":
		return string(e.User)
	case "host", "ip":
		return string(e.Host)
	case "fingerprint":
		return string(r.shaper.Fingerprint(e.Statement))
	case "pos_in_log":
		return formatInt(e.Offset)
	case "ts":
		if e.Logged.IsZero() {
			return ""
		}
		return e.Logged.Format("060102 15:04:05")
	case "Thread_id":
		return strconv.FormatUint(e.ThreadID, 10)
	}
	found := ""
	e.Attributes(func(n, v []byte) bool {
		if string(n) == name {
			found = string(v)
			return false
		}
		return true
	})
	return found
}

// class turns a class of the log into one of a report.
func (r *reading) class(from *slowlog.Class, x *extra) *class {
	c := &class{key: from.Key, calls: from.Calls, span: span{first: toSecond(from.FirstLogged),
		last: toSecond(from.LastLogged)}}
	c.span.firstText, c.span.lastText = r.stamp(from.FirstLogged), r.stamp(from.LastLogged)
	for i := range from.Attributes {
		if a, ok := attributeFrom(&from.Attributes[i]); ok {
			c.attrs = append(c.attrs, a)
		}
	}
	if x != nil {
		c.worst, c.last = x.sample, x.last
		c.worst.ts = r.stamp(x.sample.at)
		c.worst.queryTime = strconv.FormatFloat(x.sample.time.Seconds(), 'f', max(r.places, 0), 64)
		if r.by == byFingerprint {
			c.item = distillStatement(c.worst.statement)
			c.key = string(r.shaper.Fingerprint([]byte(c.worst.statement)))
			if r.o.output == "secure-slowlog" {
				c.worst.statement = c.key
			}
		}
		if c.worst.db == "" && len(x.dbs.of) == 1 {
			for db := range x.dbs.of {
				c.worst.db = db
			}
		}
		c.text("db", &x.dbs)
		c.text("user", &x.users)
		c.text("host", &x.hosts)
		for name, values := range x.texts {
			c.text(name, values)
		}
	}
	slices.SortFunc(c.attrs, func(a, b attribute) int { return cmp.Compare(a.name, b.name) })
	return c
}

// toSecond drops the fraction: pt-query-digest reads times to the second.
func toSecond(t time.Time) time.Time { return t.Truncate(time.Second) }

// stamp prints a time as the log writes it.
func (r *reading) stamp(t time.Time) string {
	switch {
	case t.IsZero():
		return ""
	case r.iso:
		return t.Format("2006-01-02T15:04:05")
	}
	return t.Format(time.DateTime)
}

func (c *class) text(name string, values *counts) {
	if len(values.of) == 0 {
		return
	}
	a := attribute{name: name, kind: isText}
	for _, v := range values.of {
		a.values = append(a.values, *v)
	}
	sortValues(a.values)
	c.attrs = append(c.attrs, a)
}

// sortValues puts the most frequent values first, equal ones by name.
func sortValues(values []value) {
	slices.SortFunc(values, func(a, b value) int {
		return cmp.Or(cmp.Compare(b.n, a.n), cmp.Compare(a.text, b.text))
	})
}

// attributeFrom turns an attribute of a log into one of a report, false when it is
// none or kept elsewhere.
func attributeFrom(from *slowlog.Attribute) (attribute, bool) {
	a := attribute{name: from.Name, yes: from.Yes, n: from.Yes + from.No}
	if slices.Contains(ignoredAttributes, a.name) || slices.Contains(textAttributes, a.name) {
		return a, false
	}
	switch {
	case from.Stats != nil:
		a.stats = from.Stats
		a.sum = a.stats.Summary()
		switch a.name {
		case slowlog.QuerySize:
			a.name = queryLength
		case "Killed":
			a.kind, a.n = isYesNo, a.sum.Count
		}
	case a.n > 0:
		a.kind = isYesNo
	default:
		a.kind = isText
		for _, v := range from.Values {
			a.values = append(a.values, value{v.Value, v.N})
		}
		sortValues(a.values)
	}
	return a, true
}

// usesISO reports whether the first time in a log is in the form
// 2026-11-20T08:38:36.
func usesISO(in []lines.Input) bool {
	for i := range in {
		head, err := in[i].Peek(64 << 10)
		if err != nil {
			continue
		}
		if _, rest, ok := strings.Cut(string(head), "# Time: "); ok && len(rest) > 4 {
			return rest[4] == '-'
		}
		if m := generalTime().Find(head); m != nil {
			return m[4] == '-'
		}
	}
	return false
}

var generalTime = lazyregexp.New(`(?m)^(\d{6} {1,2}\d{1,2}:\d\d|\d{4}-\d\d-\d\dT)`)

// sizeOf is the size of a file, -1 for what is none.
func sizeOf(path string) int64 {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() {
		return -1
	}
	return info.Size()
}
