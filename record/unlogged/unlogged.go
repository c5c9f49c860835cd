// Package unlogged takes the statements of a run from a trace of system calls, where the slow log has few
// of them: sessions of a pool that was open before the run keep the settings that they began with.
//
// The one idea: a trace sees all statements of some seconds, with their texts and times, whatever the server
// logs. Counts and times are scaled to all that the server counted during the run; how many rows a
// statement reads and returns is learnt by running it once more after the load, where it only reads.
package unlogged

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/internal/unit"
	"github.com/kasoku/kasoku/logs"
	"github.com/kasoku/kasoku/logs/lines"
	"github.com/kasoku/kasoku/logs/sqlshape"
	"github.com/kasoku/kasoku/mysql"
	"github.com/kasoku/kasoku/trace"
	"github.com/kasoku/kasoku/trace/window"
)

const (
	// longer is for how much longer a service is watched whose statements the slow log lacks.
	longer = 15 * time.Second
	// few statements say too little of what the log has.
	few = 20
	// mostSample is how much of a statement a run keeps, masked.
	mostSample = 1 << 10
)

// A Watch compares what a slow log gains with the statements that a trace sees.
type Watch struct {
	begun lines.Mark
	here  bool // the log is a file of this host
}

// NewWatch begins where a slow log ends now.
func NewWatch(file string) *Watch {
	mark, err := lines.MarkEnd(file)
	return &Watch{mark, err == nil}
}

// More returns for how much longer a service is to be watched of which so many statements were seen: 0 where
// the log has more than half of them.
func (w *Watch) More(statements uint64) time.Duration {
	if statements < few || w.here && w.has(statements/2) {
		return 0
	}
	return longer
}

// has reports whether the log has gained more than so many entries.
func (w *Watch) has(many uint64) bool {
	src, err := lines.Since(w.begun)
	if err != nil {
		return false
	}
	defer src.Close()
	var n uint64
	for n <= many && src.Scan() {
		if bytes.HasPrefix(src.Bytes(), []byte("# Query_time: ")) {
			n++
		}
	}
	return n > many
}

// Queries returns the classes of statements that a trace saw, those of the most time first, with counts and
// times scaled to as many statements as the server counted during the run; nil where it saw too few of them, or
// was not taken.
func Queries(seen *window.Seen, asked float64) ([]kasoku.Query, []kasoku.Warning) {
	if seen == nil {
		return nil, nil
	}
	all := seen.Counts.Statements
	if seen.Blind != "" || all < few || !(asked >= few) {
		return nil, nil
	}
	scale := max(asked/float64(all), 1)
	var out []kasoku.Query
	for i := range seen.Classes {
		if c := &seen.Classes[i]; c.Count > 0 && c.ID != "" {
			out = append(out, query(c, scale))
		}
	}
	sort(out)
	return out, []kasoku.Warning{{Code: kasoku.CodeTraced, Text: fmt.Sprintf("the queries are what a trace of system "+
		"calls saw in %s: %s of %s statements; calls and times are scaled to all of them, rows are those of the slowest one, "+
		"run once more after the load, and no class counts for more than twice what that took",
		unit.Exact(seen.Ended.Sub(seen.Began).Round(100*time.Millisecond)), unit.Count(all),
		unit.Count(max(all, uint64(asked))))}}
}

// query returns a class as a run has it.
func query(c *trace.Class, scale float64) kasoku.Query {
	text := []byte(cmp.Or(c.Sample, c.Fingerprint))
	return kasoku.Query{
		ID: c.ID, Fingerprint: c.Fingerprint, Verb: sqlshape.Verb(text), Tables: sqlshape.Tables(text),
		Sample:  string(logs.AppendSafe(nil, sqlshape.AppendMasked(nil, text, mostSample), 2*mostSample)),
		Numbers: sqlshape.Numbers(text), Raw: c.Sample,
		Calls: uint64(float64(c.Count)*scale + 0.5), Total: time.Duration(float64(c.Time) * scale),
	}
}

// Bounds of running statements once more, for each at most.
const (
	mostRun  = 20
	runLimit = time.Second
	waits    = 2 // as under the load a server's threads wait for a core
)

// CountRows runs the statements of the classes that took the most time once more, where they only return rows
// and take less than the limit, and counts these. What an application sees of a statement's time is also
// what it takes to come back to it, of an event loop above all: no statement counts for more than waits times what
// it took then, and the others for as much less as these together. It ends with the context.
func CountRows(ctx context.Context, r *mysql.Reader, queries []kasoku.Query, schema string) {
	var seen, known time.Duration
	ran := map[int]bool{}
	for i := range queries[:min(len(queries), mostRun)] {
		q := &queries[i]
		if q.Raw == "" || q.Verb != "SELECT" || ctx.Err() != nil {
			continue
		}
		got, err := mysql.RunOnce(ctx, r, cmp.Or(q.Schema, schema), q.Raw, runLimit)
		if err != nil {
			continue // its rows are not known, as where nothing could be run
		}
		q.RowsSent, q.RowsExamined = got.Sent*q.Calls, got.Examined*q.Calls
		seen, ran[i] = seen+q.Total, true
		q.Total = min(q.Total, time.Duration(q.Calls)*got.Took*waits)
		known += q.Total
	}
	for i := range queries {
		if !ran[i] && seen > 0 {
			queries[i].Total = time.Duration(float64(queries[i].Total) * float64(known) / float64(seen))
		}
	}
	sort(queries)
}

// sort puts the classes that took the most time first.
func sort(queries []kasoku.Query) {
	slices.SortStableFunc(queries, func(a, b kasoku.Query) int {
		return cmp.Or(cmp.Compare(b.Total, a.Total), strings.Compare(a.ID, b.ID))
	})
}
