package record

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/logs"
	"github.com/kasoku/kasoku/logs/accesslog"
	"github.com/kasoku/kasoku/logs/applog"
	"github.com/kasoku/kasoku/logs/lines"
	"github.com/kasoku/kasoku/logs/slowlog"
	"github.com/kasoku/kasoku/record/clock"
)

// logFile is one log and where it ended when the run began.
type logFile struct {
	kind  string // accesslog, slowlog, applog, errorlog
	path  string
	quiet bool // that it gains no line is well
	mark  lines.Mark
	read  int64      // bytes, in the end
	gone  bool       // in the end, with its directory
	zone  clock.Zone // of an access log that was read
}

// markLogs remembers where each log ends now.
func (s *session) markLogs() error {
	var want []logFile
	for _, path := range s.o.accessLogs() {
		want = append(want, logFile{kind: "accesslog", path: path})
	}
	for _, path := range s.o.appLogs() {
		want = append(want, logFile{kind: "applog", path: path})
	}
	for _, path := range s.o.MoreLogs.Error {
		want = append(want, logFile{kind: "errorlog", path: path, quiet: true})
	}
	if s.db != nil && s.db.slowOn {
		want = append(want, logFile{kind: "slowlog", path: s.db.slow.File()})
	}
	for _, l := range want {
		var err error
		if l.mark, err = lines.MarkEnd(l.path); err != nil {
			return fmt.Errorf("%s: %w", l.kind, err)
		}
		s.logs = append(s.logs, &l)
	}
	return nil
}

// marksOf returns from where on the logs of a kind belong to the run.
func (s *session) marksOf(kind string) (marks []lines.Mark) {
	for _, l := range s.logs {
		if l.kind == kind {
			marks = append(marks, l.mark)
		}
	}
	return marks
}

// collectLogs reads what each log gained during the run and stores its tables.
func (s *session) collectLogs() error {
	var windows []kasoku.LogWindow
	var empty []string
	var errs []error
	for _, l := range s.logs {
		s.progress(Progress{Phase: PhaseAnalyse, Text: l.path})
		var w kasoku.LogWindow
		err := s.part(l.kind, func() (err error) { w, err = s.collect(l); return err })
		if err != nil {
			errs = append(errs, fmt.Errorf("%s %s: %w", l.kind, l.path, err))
			continue
		}
		w.Host = s.host()
		if w.Path == "" {
			w.Path = l.path
		}
		s.warn(s.lostOf(l, &w)...)
		if l.kind == "errorlog" && w.Note == "" {
			w.Note = levelNote(s.taken.Configs, w.Path)
		}
		windows = append(windows, w)
		if bad, ok := kasoku.DroppedLines(&w); ok {
			bad.Hint = "they are in no table; `kasoku show -o json` has samples"
			s.warn(bad)
		}
		if lacks, ok := kasoku.LackingLog(&w); ok {
			s.warn(lacks)
		}
		if w.Lines == 0 && w.Note == "" && !l.quiet {
			empty = append(empty, w.Path)
		}
	}
	if len(empty) > 0 {
		s.warn(emptyWarning(empty))
	}
	s.warn(doubled(s.accessRead)...)
	// By now it is known in which time zones the logs are.
	return errors.Join(append(errs, s.store.SaveLogs(windows), s.store.SaveSettings(s.settings))...)
}

// emptyWarning names the logs that gained nothing.
func emptyWarning(paths []string) kasoku.Warning {
	w := kasoku.Warning{Code: "empty-log", Text: strings.Join(paths, ", ") + " gained no line during the run", Hint: "is it the log of what was measured?"}
	if len(paths) > 1 {
		w.Hint = "are they the logs of what was measured?"
	}
	return w
}

// mostSlow is how many of the slowest requests a run keeps.
const mostSlow = 20

// collect reads one log's window into the run's tables.
func (s *session) collect(l *logFile) (w kasoku.LogWindow, err error) {
	src, err := lines.Since(l.mark)
	if errors.Is(err, fs.ErrNotExist) { // with its directory; else it is looked for among its rotations
		l.gone = true
		return kasoku.LogWindow{Kind: l.kind, Note: l.path + " is gone"}, nil
	}
	if err != nil {
		return w, err
	}
	defer func() {
		l.read = bytesOf(src.Files())
		err = errors.Join(err, src.Close())
	}()
	whole := kasoku.Interval{To: s.run.Length}
	switch l.kind {
	case "slowlog":
		o := slowlog.Options{Kind: slowlog.Slow, Clock: s.clock.Wall, Interval: whole, KeepRaw: true, Trailers: true}
		if s.join != nil {
			o.Each = s.join.Follow(s.joined(), l.mark)
		}
		return s.collectSlowLog(src, o)
	case "accesslog":
		zone, err := s.clock.ZoneOf(l.mark)
		if err != nil {
			return w, err
		}
		l.zone = zone
		if s.join != nil {
			s.join.Offset(zone.Off())
		}
		s.settings = append(s.settings, zone.Settings(s.host(), l.path)...)
		return s.collectAccessLog(src, accesslog.Options{Clock: zone.Place(s.clock), Interval: whole, Slowest: mostSlow, Detail: true})
	}
	w, err = s.collectAppLog(src, applog.Options{Host: s.host(), Path: l.path, Clock: s.clock.Offset(l.mark), Interval: whole})
	w.Kind = l.kind
	return w, err
}

func (s *session) collectSlowLog(src *lines.Window, o slowlog.Options) (kasoku.LogWindow, error) {
	t, w, err := slowlog.Collect(src, o)
	if t == nil {
		return w, err
	}
	s.warn(s.db.logged(t.Statements() + t.Outside())...)
	classes, saves, transactions := t.Classes(), t.Saves(), t.Transactions()
	if s.o.sampled() { // statements that follow each other are not in it
		saves, transactions = nil, nil
	}
	if s.join != nil {
		s.join.Settle(classes, t.Statements()+t.Outside(), s.db.asked)
	}
	queries := make([]kasoku.Query, len(classes))
	for i := range classes {
		queries[i] = classes[i].Query
	}
	s.slowRead = len(queries) > 0
	for i := range queries {
		queries[i].Host = s.host()
	}
	for i := range saves {
		saves[i].Host = s.host()
	}
	for i := range transactions {
		transactions[i].Host = s.host()
	}
	s.queries = slices.Clone(queries)
	for i := range queries {
		if !s.o.KeepStatements {
			queries[i].Raw = ""
		}
	}
	return w, errors.Join(err, s.store.SaveQueries(queries), s.store.SaveSaves(saves), s.store.SaveTransactions(transactions))
}

func (s *session) collectAccessLog(src *lines.Window, o accesslog.Options) (kasoku.LogWindow, error) {
	t, w, err := accesslog.Collect(src, o)
	if t == nil {
		return w, err
	}
	s.accessRead = append(s.accessRead, routesOf(w.Path, t.Endpoints()))
	if s.access != nil { // of another log
		t.Merge(s.access)
	}
	s.access = t
	s.endpoints = t.Endpoints()
	for i := range s.endpoints {
		s.endpoints[i].Host = s.host()
	}
	slow := s.access.Slowest()
	for i := range slow {
		slow[i].Host = s.host()
		slow[i].URI = string(logs.AppendWithoutSecrets(nil, []byte(slow[i].URI)))
	}
	return w, errors.Join(err, s.store.SaveEndpoints(s.endpoints), s.store.SaveSlowest(slow))
}

func (s *session) collectAppLog(src *lines.Window, o applog.Options) (kasoku.LogWindow, error) {
	t, err := applog.Read(src, o)
	if t == nil {
		return kasoku.LogWindow{}, err
	}
	s.messages = append(s.messages, t.Messages()...)
	return t.Window(src), errors.Join(err, s.store.SaveMessages(s.messages))
}
