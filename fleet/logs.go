package fleet

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/kasoku/kasoku/internal/pathwalk"
)

// Logs is the question to read logs of the host, and how far that is: a [LogsQuestion].
const Logs = "logs"

// The kinds of logs that a host reads.
const (
	AccessLog = "accesslog"
	SlowLog   = "slowlog"
)

// A LogsQuestion asks a host to read logs of its own into tables, and how far it is. It is the
// order each time, so that an agent that was started again goes on with it, and keeps the
// reading alive: one for which no one asks for a while ends. No log is opened that the agent's
// owner has not named; see [FindLogs].
type LogsQuestion struct {
	Run     string          // names the reading, in all questions about it
	Kind    string          // AccessLog or SlowLog
	Paths   []string        // or patterns as of [path.Match], absolute
	Options json.RawMessage // how logs of the kind are read
	Begin   json.RawMessage `json:",omitempty"` // begin to read, with what was not known before; empty: not yet
	Stop    bool            `json:",omitempty"` // end it, and keep what was read
	Forget  bool            `json:",omitempty"` // its tables have come, or are not wanted
}

// A LogsAnswer is how far a reading is. Its states are Preparing, Ready, Running, Over and
// Failed.
type LogsAnswer struct {
	Error string `json:",omitempty"` // why it failed, or is refused
	Fix   string `json:",omitempty"` // what the owner of the host can do
	State string `json:",omitempty"`

	Logs  int      `json:",omitempty"` // how many they are
	Zone  *LogZone `json:",omitempty"` // of the first of them; nil: not known
	Done  int64    `json:",omitempty"` // stored bytes
	Total int64    `json:",omitempty"`
	Kept  int64    `json:",omitempty"` // of Done, those whose tables were here already

	Cores     int           `json:",omitempty"` // that it may use
	CPU, Wall time.Duration `json:",omitempty"` // that the reading took

	Size int64  `json:",omitempty"` // of the file with the tables, once it is over
	Sum  string `json:",omitempty"` // its SHA-256, in hexadecimal digits
}

// A LogZone is the time zone in which a log is written, as a line of it shows.
type LogZone struct {
	At    int64 // Unix time of the line
	Ahead int   // seconds ahead of UTC
}

const (
	maxLogPaths   = 100
	maxLogPath    = 4096
	maxLogOptions = 256 << 10
	maxLogFiles   = 10_000
)

// allowLogs is what a host says whose owner may allow more.
const allowLogs = "on that host: kasoku agent --allow logs='/var/log/nginx/*'"

// Check returns a [*RefusedError] when the host does not read for it.
func (q *LogsQuestion) Check(l *Limit) error {
	switch {
	case !isRun(q.Run):
		return &RefusedError{Reason: "the reading has no name"}
	case q.Kind != AccessLog && q.Kind != SlowLog:
		return &RefusedError{Reason: "this kind of logs is not read here"}
	case len(q.Paths) == 0 || len(q.Paths) > maxLogPaths || len(q.Options) > maxLogOptions ||
		len(q.Begin) > maxLogOptions:
		return &RefusedError{Reason: "no logs are named, or too many"}
	case len(l.Logs) == 0:
		return &RefusedError{Reason: "to read logs is not allowed here", Fix: allowLogs}
	}
	for _, p := range q.Paths {
		if err := CheckLogPath(p); err != nil {
			return &RefusedError{Reason: err.Error()}
		}
	}
	return nil
}

// CheckLogPath refuses what names no logs of a host: a path or pattern is absolute and has no dots.
func CheckLogPath(p string) error {
	_, err := path.Match(p, "")
	if err != nil || !path.IsAbs(p) || path.Clean(p) != p || p == "/" || len(p) > maxLogPath ||
		strings.ContainsFunc(p, unicode.IsControl) {
		return fmt.Errorf("bad path %q: want an absolute path or pattern of logs, without dots", clip(p))
	}
	return nil
}

// A LogFile is a log of this host that its owner lets others have read.
type LogFile struct {
	Path      string
	ByPattern bool   // the question named it by a pattern, so that it may be a directory, which is passed over
	dir       string // that the owner named: below it no link is followed
}

// Open opens the log. What is no file of its own there, as a link is, is a
// [*pathwalk.RefusedError].
func (l *LogFile) Open() (*os.File, error) {
	return pathwalk.OpenBelow(l.dir, strings.TrimPrefix(l.Path, strings.TrimSuffix(l.dir, "/")+"/"))
}

// FindLogs returns the logs that are asked for, by names or patterns, in their order, each
// pattern's sorted as [filepath.Glob] has them. The patterns are held, as text, against the
// names of the files that the owner allows, so that nothing else is even looked for: what is
// not there and what is not allowed look the same.
func FindLogs(allowed, asked []string) ([]LogFile, error) {
	names := map[string]string{}
	for _, pattern := range allowed {
		all, err := pathwalk.Glob(pattern)
		if err != nil {
			return nil, fmt.Errorf("look for logs: %w", err)
		}
		dir := fixedPart(pattern)
		for _, name := range all {
			if old, known := names[name]; !known || len(dir) > len(old) {
				names[name] = dir
			}
		}
	}
	if len(names) > maxLogFiles {
		return nil, fmt.Errorf("%d logs are allowed here: at most %d are looked at", len(names), maxLogFiles)
	}
	sorted := make([]string, 0, len(names))
	for name := range names {
		sorted = append(sorted, name)
	}
	slices.SortFunc(sorted, byName)
	var out []LogFile
	for _, want := range asked {
		before := len(out)
		if dir, ok := names[want]; ok {
			out = append(out, LogFile{want, false, dir})
			continue
		}
		for _, name := range sorted {
			if ok, _ := path.Match(want, name); ok {
				out = append(out, LogFile{name, true, names[name]})
			}
		}
		if len(out) == before {
			return nil, &RefusedError{Reason: fmt.Sprintf("no log that may be read here matches %q", clip(want)),
				Fix: allowLogs}
		}
	}
	return out, nil
}

// byName orders paths as [filepath.Glob] returns those of one pattern: name by name.
func byName(a, b string) int {
	return slices.CompareFunc(strings.Split(a, "/"), strings.Split(b, "/"), cmp.Compare[string])
}

// fixedPart is the directory that a pattern names without wildcards.
func fixedPart(pattern string) string {
	dir := filepath.Dir(pattern)
	for strings.ContainsAny(dir, `*?[\`) {
		dir = filepath.Dir(dir)
	}
	return dir
}

// parseLogs reads the pattern of a permission.
func parseLogs(pattern string) error {
	if CheckLogPath(pattern) != nil {
		return errors.New("want logs=PATTERN, the absolute path or pattern of logs of that host, such as " +
			"logs=/var/log/nginx/*.log")
	}
	return nil
}
