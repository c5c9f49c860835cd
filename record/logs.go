package record

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/internal/secret"
	"github.com/kasoku/kasoku/logs/accesslog"
	"github.com/kasoku/kasoku/logs/applog"
	"github.com/kasoku/kasoku/logs/lines"
	"github.com/kasoku/kasoku/logs/slowlog"
	"github.com/kasoku/kasoku/record/callers"
	"github.com/kasoku/kasoku/record/clock"
	"github.com/kasoku/kasoku/record/staticfile"
	"github.com/kasoku/kasoku/store"
)

// logFile is one log and where it ended when the run began.
type logFile struct {
	kind  string // accesslog, slowlog, applog, errorlog
	path  string
	quiet bool // no line during a run is no warning
	mark  lines.Mark
	read  int64      // bytes, in the end
	gone  bool       // in the end, with its directory
	zone  clock.Zone // of an access log that was read
}

// logbook is the logs of a run: from where on they belong to it, and what was read of them.
type logbook struct {
	*recorder
	config *configuration
	joins  *joining

	files      []*logFile
	access     *accesslog.Table    // of all access logs; nil before they are read
	accessRead []callers.LogRoutes // of each access log by itself
	endpoints  []kasoku.Endpoint
	slow       []kasoku.SlowRequest // of all access logs
	messages   []kasoku.Message
	slowRead   bool           // the slow log gave the run its queries
	queries    []kasoku.Query // of the slow log, with a statement of each as it was sent
}

// mark remembers where each log ends now.
func (b *logbook) mark() error {
	var want []logFile
	for _, path := range b.o.accessLogs() {
		want = append(want, logFile{kind: "accesslog", path: path})
	}
	for _, path := range b.o.appLogs() {
		want = append(want, logFile{kind: "applog", path: path, quiet: b.o.MoreLogs.Quiet && path != b.o.AppLog})
	}
	for _, path := range b.o.MoreLogs.Error {
		want = append(want, logFile{kind: "errorlog", path: path, quiet: true})
	}
	if b.db != nil && b.db.slowOn && !b.db.elsewhere {
		want = append(want, logFile{kind: "slowlog", path: b.db.slow.File()})
	}
	for _, l := range want {
		var err error
		if l.mark, err = lines.MarkEnd(l.path); err != nil {
			return fmt.Errorf("%s: %w", l.kind, err)
		}
		b.files = append(b.files, &l)
	}
	return nil
}

// marksOf returns from where on the logs of a kind belong to the run.
func (b *logbook) marksOf(kind string) (marks []lines.Mark) {
	for _, l := range b.files {
		if l.kind == kind {
			marks = append(marks, l.mark)
		}
	}
	return marks
}

// collectAll reads what each log gained during the run and stores its tables.
func (b *logbook) collectAll() error {
	var windows []kasoku.LogWindow
	var empty []string
	var errs []error
	for _, l := range b.files {
		b.progress(Progress{Phase: PhaseAnalyse, Text: l.path})
		var w kasoku.LogWindow
		err := b.part(l.kind, func() (err error) { w, err = b.collect(l); return err })
		if err != nil {
			errs = append(errs, fmt.Errorf("%s %s: %w", l.kind, l.path, err))
			b.warn(unreadWarning(l.path))
			continue
		}
		w.Host = b.host()
		if w.Path == "" {
			w.Path = l.path
		}
		b.warn(b.lostOf(l, &w)...)
		if l.kind == "errorlog" && w.Note == "" {
			w.Note = levelNote(b.config.taken.Configs, w.Path)
		}
		windows = append(windows, w)
		if bad, ok := kasoku.DroppedLines(&w); ok {
			bad.Hint = "they are in no table; `kasoku show -o json` has samples"
			b.warn(bad)
		}
		if w.Lines == 0 && w.Note == "" && !l.quiet {
			empty = append(empty, w.Path)
		}
	}
	if len(empty) > 0 {
		b.warn(emptyWarning(empty))
	}
	b.warn(b.missing("is not there: the run has nothing of it", "is its path right?")...)
	b.warn(b.foreignLogs()...)
	b.warn(b.lacking(windows)...)
	b.warn(callers.WarnDoubled(b.accessRead)...)
	files := staticfile.Roots(b.host(), &b.config.members, b.config.taken.Configs, b.endpoints)
	b.config.settings = append(append(b.config.settings, files...), b.ofClients()...)
	// By now it is known in which time zones the logs are.
	return errors.Join(append(errs, store.Save(b.store, windows), store.Save(b.store, b.config.settings))...)
}

// emptyWarning names the logs that gained nothing.
func emptyWarning(paths []string) kasoku.Warning {
	w := kasoku.Warning{Code: "empty-log", Text: strings.Join(paths, ", ") + " gained no line during the run", Hint: "is it the log of what was measured?"}
	if len(paths) > 1 {
		w.Hint = "are they the logs of what was measured?"
	}
	return w
}

// Of the clients in access logs a run keeps so many names of bots, so many endpoints that
// they fetched again, and so many with what they were put together from.
const (
	mostBots     = 40
	mostAgain    = 40
	mostVariants = 100
	mostKeySets  = 8 // of one of them, and one of the rest
)

// ofClients returns the names of the bots in the access logs, what clients fetched again, and
// with which query keys they asked.
func (b *logbook) ofClients() (out []kasoku.Setting) {
	if b.access == nil {
		return nil
	}
	for _, one := range accesslog.FetchedAgain(b.access, mostAgain) {
		out = append(out, one.Setting(b.host()))
	}
	for _, one := range accesslog.Variants(b.access, mostVariants, mostKeySets) {
		out = append(out, one.Setting(b.host()))
	}
	for _, one := range b.access.NamedBots(mostBots) {
		out = append(out, one.Setting(b.host()))
	}
	return out
}

// mostSlow is how many of the slowest requests a run keeps.
const mostSlow = 20

// collect reads one log's window into the run's tables.
func (b *logbook) collect(l *logFile) (w kasoku.LogWindow, err error) {
	src, err := lines.Since(l.mark)
	if errors.Is(err, fs.ErrNotExist) { // with its directory; else it is looked for among its rotations
		l.gone = true
		return kasoku.LogWindow{Kind: l.kind, Note: l.path + " is gone"}, nil
	}
	if err != nil {
		return w, err
	}
	defer func() {
		l.read, w.Path = bytesOf(src.Files()), l.path // whatever the file is called by now
		err = errors.Join(err, src.Close())
	}()
	whole := kasoku.Interval{To: b.run.Length}
	switch l.kind {
	case "slowlog":
		o := slowlog.Options{Kind: slowlog.Slow, Clock: b.clock.Wall, Interval: whole, KeepRaw: true, Trailers: true, Seconds: true,
			Where: b.db.tenants.Keep}
		if b.joins.join != nil {
			o.Each = b.joins.join.Follow(b.joins.known(), l.mark)
		}
		return b.collectSlowLog(src, o)
	case "accesslog":
		zone, err := b.clock.ZoneOf(l.mark)
		if err != nil {
			return w, err
		}
		l.zone = zone
		if b.joins.join != nil {
			b.joins.join.Offset(zone.Off())
		}
		b.config.settings = append(b.config.settings, zone.Settings(b.host(), l.path)...)
		return b.collectAccessLog(src, accesslog.Options{Clock: zone.Place(b.clock), Interval: whole, Slowest: mostSlow, Detail: true, Seconds: true})
	}
	w, err = b.collectAppLog(src, applog.Options{Host: b.host(), Path: l.path, Clock: b.clock.Offset(l.mark), Interval: whole})
	w.Kind = l.kind
	return w, err
}

func (b *logbook) collectSlowLog(src *lines.Window, o slowlog.Options) (kasoku.LogWindow, error) {
	t, w, err := slowlog.Collect(src, o)
	if t == nil {
		return w, err
	}
	entries := t.Statements() + t.Outside() + b.db.tenants.Left()
	b.warn(append(b.db.logged(entries), b.db.tenants.Warnings()...)...)
	b.config.settings = append(b.config.settings, b.db.tenants.Settings(b.host(), t.Connections(), b.db.asked > 0)...)
	classes, saves, transactions := t.Classes(), t.Saves(), t.Transactions()
	if b.joins.join != nil {
		b.joins.join.Settle(classes, entries, b.db.asked)
	}
	if b.o.sampled() { // statements that follow each other are not in it
		saves, transactions = nil, nil
	}
	if !b.o.sampled() && b.db.mostlyUnlogged(entries) { // digests are the run's queries
		classes, saves, transactions = nil, nil, nil
	}
	queries := make([]kasoku.Query, len(classes))
	for i := range classes {
		queries[i] = classes[i].Query
		queries[i].Host = b.host()
	}
	b.slowRead = len(queries) > 0
	for i := range saves {
		saves[i].Host = b.host()
	}
	for i := range transactions {
		transactions[i].Host = b.host()
	}
	b.queries = slices.Clone(queries)
	for i := range queries {
		if !b.o.KeepStatements {
			queries[i].Raw = ""
		}
	}
	return w, errors.Join(err, store.Save(b.store, queries), store.Save(b.store, saves), store.Save(b.store, transactions))
}

func (b *logbook) collectAccessLog(src *lines.Window, o accesslog.Options) (kasoku.LogWindow, error) {
	t, w, err := accesslog.Collect(src, o)
	if t == nil {
		return w, err
	}
	b.accessRead = append(b.accessRead, callers.RoutesOf(w.Path, t.Endpoints()))
	if b.access != nil { // of another log
		t.Merge(b.access)
	}
	b.access = t
	b.endpoints = t.Endpoints()
	for i := range b.endpoints {
		b.endpoints[i].Host = b.host()
	}
	b.slow = b.access.Slowest()
	for i := range b.slow {
		b.slow[i].Host, b.slow[i].URI = b.host(), string(secret.Append(nil, []byte(b.slow[i].URI)))
	}
	return w, errors.Join(err, store.Save(b.store, b.endpoints), store.Save(b.store, b.slow))
}

func (b *logbook) collectAppLog(src *lines.Window, o applog.Options) (kasoku.LogWindow, error) {
	t, err := applog.Read(src, o)
	if t == nil {
		return kasoku.LogWindow{}, err
	}
	b.messages = append(b.messages, t.Messages()...)
	return t.Window(src), errors.Join(err, store.Save(b.store, b.messages))
}
