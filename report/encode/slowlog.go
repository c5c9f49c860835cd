package encode

import (
	"io"
	"maps"
	"slices"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/logs/slowlog"
	"github.com/kasoku/kasoku/report"
	"github.com/kasoku/kasoku/report/logfile"
	"github.com/kasoku/kasoku/report/statements"
)

// A SlowLogShown is what of a slow log the JSON holds beside its figures.
type SlowLogShown struct {
	Seconds bool // the calls of each class by second
	Masked  bool // the slowest statements without their values
}

// SlowLogJSON writes what was read of logs of statements.
func SlowLogJSON(w io.Writer, l *logfile.SlowLog, o logfile.SlowOptions, s SlowLogShown) error {
	selected, err := logfile.SelectSlow(l, o)
	if err != nil {
		return err
	}
	d := selected.Document
	return JSON(w, &SlowLog{
		Schema: Schema, Kind: "slowlog", Verdict: d.Verdict, Complete: l.Stopped == "", By: l.By,
		Alerts: list(d.Alerts, func(a *report.Alert) string { return a.Text }),
		From:   selected.From, To: selected.To, Calls: selected.Calls, Total: rounded(selected.Total.Seconds()),
		Statements: l.Statements, Admin: l.Admin, Connections: l.Connections,
		Classes:      list(selected.Classes, func(c **slowlog.Class) SlowClass { return newSlowClass(l, *c, selected, o, s) }),
		Transactions: list(l.Transactions, newTransaction),
		Saves: list(l.Saves, func(s *kasoku.SaveShape) SlowSave {
			return SlowSave{s.Table, s.Count, s.Inserts,
				full(s.Sample)}
		}),
		Logs: list(l.Logs, newAccessPart),
	})
}

// A SlowLog is what logs of statements hold.
type SlowLog struct {
	Schema       int           `json:"schema"`
	Kind         string        `json:"kind"` // slowlog
	Verdict      string        `json:"verdict"`
	Alerts       []string      `json:"alerts"`
	Complete     bool          `json:"complete"`
	From         *time.Time    `json:"from"`
	To           *time.Time    `json:"to"`
	By           string        `json:"by"`
	Calls        uint64        `json:"calls"`
	Total        float64       `json:"total_s"`
	Statements   uint64        `json:"statements"`
	Admin        uint64        `json:"admin"`
	Connections  uint64        `json:"connections"`
	Classes      []SlowClass   `json:"classes"`
	Transactions []Transaction `json:"transactions"`
	Saves        []SlowSave    `json:"saves"`
	Logs         []AccessPart  `json:"logs"`
}

// A SlowClass is one class of statements, or what the rows were asked to be.
type SlowClass struct {
	ID           string        `json:"id"`
	Key          string        `json:"key,omitempty"`
	Fingerprint  string        `json:"fingerprint"`
	Tag          string        `json:"tag"`
	Item         string        `json:"item"`
	Verb         string        `json:"verb"`
	Tables       []string      `json:"tables"`
	Calls        uint64        `json:"calls"`
	Total        float64       `json:"total_s"`
	Share        float64       `json:"share_ratio"`
	Deviation    *float64      `json:"stddev_s"`
	Latency      *Distribution `json:"latency"`
	Lock         float64       `json:"lock_s"`
	RowsExamined uint64        `json:"rows_examined"`
	RowsSent     uint64        `json:"rows_sent"`
	RowsAffected *uint64       `json:"rows_affected"`
	NoneAffected *uint64       `json:"none_affected"`
	Distinct     uint64        `json:"distinct"`
	Repeated     uint64        `json:"repeated"`
	Streak       uint64        `json:"streak"`
	Streaks      uint64        `json:"streaks"`
	SingleRow    uint64        `json:"single_row"`
	Users        []SlowCount   `json:"users"`
	Hosts        []SlowCount   `json:"hosts"`
	Schemas      []SlowCount   `json:"schemas"`
	Tags         []SlowCount   `json:"tags"`
	First        *time.Time    `json:"first"`
	Last         *time.Time    `json:"last"`
	Slowest      SlowSample    `json:"slowest"`
	Explain      []string      `json:"explain"`
	Seconds      []SlowSecond  `json:"seconds,omitempty"`
}

// A SlowCount is a value and how many calls have it.
type SlowCount struct {
	Value string `json:"value"`
	Calls uint64 `json:"calls"`
}

// A SlowSample is the slowest statement of a class.
type SlowSample struct {
	Path      string  `json:"path"`
	Line      int64   `json:"line"`
	Offset    int64   `json:"offset"`
	Time      float64 `json:"time_s"`
	Statement string  `json:"statement"`
}

// A SlowSecond is one second of a class.
type SlowSecond struct {
	At    time.Time `json:"at"`
	Calls uint64    `json:"calls"`
	Total float64   `json:"total_s"`
}

// A SlowSave is an ORM's way to write into a table.
type SlowSave struct {
	Table   string   `json:"table"`
	Count   uint64   `json:"count"`
	Inserts uint64   `json:"inserts"`
	Sample  []string `json:"sample"`
}

func newSlowClass(l *logfile.SlowLog, c *slowlog.Class, selected *logfile.SelectedSlow, o logfile.SlowOptions,
	s SlowLogShown) SlowClass {
	counts := func(of []slowlog.Count) []SlowCount {
		return list(of, func(c *slowlog.Count) SlowCount { return SlowCount{c.Value, c.N} })
	}
	out := SlowClass{
		ID: c.ID, Key: c.Key, Fingerprint: c.Fingerprint, Tag: c.Tag, Item: statements.Item(&c.Query), Verb: c.Verb,
		Tables: full(c.Tables),
		Calls:  c.Calls, Total: c.Total.Seconds(), Share: rounded(selected.Share(c)), Latency: distribution(c.Latency),
		Lock:         c.Lock.Seconds(),
		RowsExamined: c.RowsExamined, RowsSent: c.RowsSent, Distinct: c.Distinct, Repeated: c.Repeated,
		Streak: c.Streak, Streaks: c.Streaks,
		SingleRow: c.SingleRow, Users: counts(c.Users), Hosts: counts(c.Hosts), Schemas: counts(c.Schemas),
		Tags: counts(c.Tags), Explain: full(c.Explain),
		Slowest: SlowSample{Line: c.Worst.Line, Offset: c.Worst.Offset, Time: c.Worst.QueryTime.Seconds(),
			Statement: logfile.SlowStatement(c, s.Masked)},
	}
	if c.Worst.Input < len(l.Logs) {
		out.Slowest.Path = l.Logs[c.Worst.Input].Path
	}
	if selected.Total > 0 {
		out.Deviation = known(selected.Deviation(c), true)
	}
	if c.HasAffected {
		out.RowsAffected, out.NoneAffected = &c.RowsAffected, &c.NoneAffected
	}
	if selected.From != nil {
		first, last := l.Wall(c.First, o.Options), l.Wall(c.Last, o.Options)
		out.First, out.Last = &first, &last
	}
	if s.Seconds {
		out.Seconds = slowSeconds(l, c, o)
	}
	return out
}

func slowSeconds(l *logfile.SlowLog, c *slowlog.Class, o logfile.SlowOptions) []SlowSecond {
	out := make([]SlowSecond, 0, len(c.Seconds))
	for _, at := range slices.Sorted(maps.Keys(c.Seconds)) {
		n := c.Seconds[at]
		out = append(out, SlowSecond{l.Wall(time.Duration(at)*time.Second, o.Options), n.Calls, n.Total.Seconds()})
	}
	return out
}

// SlowDiffJSON writes what moved between two sides of logs of statements.
func SlowDiffJSON(w io.Writer, d *logfile.SlowDiff, o logfile.SlowOptions) error {
	doc, err := logfile.DiffSlow(d, o)
	if err != nil {
		return err
	}
	rows, err := d.Moved(o)
	if err != nil {
		return err
	}
	return JSON(w, &SlowDiff{
		Schema: Schema, Kind: "slowlog diff", Verdict: doc.Verdict, By: d.Before.By,
		Alerts: list(doc.Alerts, func(a *report.Alert) string { return a.Text }),
		Before: newSlowSide(d.Before, d.Names[0]), After: newSlowSide(d.After, d.Names[1]),
		Rows: list(logfile.Limited(rows, o.Limit), func(m *logfile.Moved[slowlog.Class]) MovedClass {
			c := m.Either()
			return MovedClass{c.ID, c.Key, c.Fingerprint, c.Tag, newMovedClassSide(m.Before),
				newMovedClassSide(m.After)}
		}),
	})
}

// A SlowDiff is two sides of logs of statements.
type SlowDiff struct {
	Schema  int          `json:"schema"`
	Kind    string       `json:"kind"` // slowlog diff
	Verdict string       `json:"verdict"`
	Alerts  []string     `json:"alerts"`
	By      string       `json:"by"`
	Before  SlowSide     `json:"before"`
	After   SlowSide     `json:"after"`
	Rows    []MovedClass `json:"rows"`
}

// A SlowSide is one side.
type SlowSide struct {
	Name  string       `json:"name"`
	Calls uint64       `json:"calls"`
	Total float64      `json:"total_s"`
	Logs  []AccessPart `json:"logs"`
}

// A MovedClass is a class of both sides, null where a side has not got it.
type MovedClass struct {
	ID          string          `json:"id"`
	Key         string          `json:"key,omitempty"`
	Fingerprint string          `json:"fingerprint"`
	Tag         string          `json:"tag"`
	Before      *MovedClassSide `json:"before"`
	After       *MovedClassSide `json:"after"`
}

// A MovedClassSide is one side of a class.
type MovedClassSide struct {
	Calls        uint64        `json:"calls"`
	Total        float64       `json:"total_s"`
	Latency      *Distribution `json:"latency"`
	RowsExamined uint64        `json:"rows_examined"`
	RowsSent     uint64        `json:"rows_sent"`
}

func newMovedClassSide(c *slowlog.Class) *MovedClassSide {
	if c == nil {
		return nil
	}
	return &MovedClassSide{c.Calls, c.Total.Seconds(), distribution(c.Latency), c.RowsExamined, c.RowsSent}
}

func newSlowSide(l *logfile.SlowLog, name string) SlowSide {
	out := SlowSide{Name: name, Logs: list(l.Logs, newAccessPart)}
	var total time.Duration
	for i := range l.Classes {
		out.Calls += l.Classes[i].Calls
		total += l.Classes[i].Total
	}
	out.Total = total.Seconds()
	return out
}
