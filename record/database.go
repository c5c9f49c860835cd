package record

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/checkpoint/guard"
	"github.com/kasoku/kasoku/diagnose/recycle"
	"github.com/kasoku/kasoku/internal/unit"
	mysqlread "github.com/kasoku/kasoku/mysql"
	"github.com/kasoku/kasoku/mysql/digest"
	"github.com/kasoku/kasoku/mysql/slowfile"
	"github.com/kasoku/kasoku/mysqlflags"
	"github.com/kasoku/kasoku/observe/mysql"
	"github.com/kasoku/kasoku/record/tenants"
)

// connectWithin bounds the first connection to a database, so that a server
// that hangs does not hang the recorder.
const connectWithin = 5 * time.Second

// database is the database that a run watches. The sampler has a connection of
// its own, so that a count of rows never delays a tick.
type database struct {
	db        *sql.DB
	source    *mysql.Source     // samples over a connection of its own
	locks     *mysql.Locks      // and so does this
	detail    *mysql.Detail     // and this
	reader    *mysqlread.Reader // for settings, rows, slow log
	hold      *guard.Hold       // what the run changes
	slow      *mysqlread.SlowLog
	open      int             // sessions that were open when the slow log was switched on
	table     bool            // the slow log goes to its table, too
	broken    error           // the application does not answer since
	attempt   recycle.Attempt // to end idle sessions
	slowOn    bool            // the statements of the run are counted from then on
	elsewhere bool            // the slow log's file here is another server's

	digests  *mysqlread.Digests // at the start; nil without them
	counted  []kasoku.Query     // what they counted during the run
	restored bool               // nothing that was changed is left to be put back
	way      slowWay            // between slow log and digests

	braked atomic.Pointer[braking] // the slow log was put back before the end; nil else

	tenants tenants.Book // whose statements the server has; learned while the service is watched

	asked float64 // statements of others while the slow log was on; below 0 when unknown
}

func openDatabase(ctx context.Context, o Options) (_ *database, err error) {
	ctx, cancel := context.WithTimeout(ctx, connectWithin)
	defer cancel()
	d := &database{}
	if d.db, err = mysqlflags.OpenBounded(o.MySQL); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, d.close())
		}
	}()
	if d.reader, err = mysqlread.New(ctx, d.db); err != nil {
		return nil, fmt.Errorf("database %s: %w", mysqlflags.Redact(o.MySQL), err)
	}
	if err = d.checkSample(&o); err != nil {
		return nil, err
	}
	if d.hold, err = holdFor(ctx, d.reader, o); err != nil {
		return nil, err
	}
	d.source = mysql.New(d.db)
	d.locks = mysql.NewLocks(d.db, d.source, shapeOf)
	d.detail = mysql.NewDetail(d.db, d.source, shapeOf)
	d.tenants.Apart = func(look func()) { d.source.Apart(d.reader, look) }
	d.slow = mysqlread.NewSlowLog(d.reader, mysqlread.Settings{Sample: o.Sample})
	if err = d.checkAgreed(ctx, &o); err != nil {
		return nil, err
	}
	return d, nil
}

// settings returns the server's variables as they are without what the run
// itself has changed.
func (d *database) settings(ctx context.Context, host string) ([]kasoku.Setting, error) {
	vars, err := d.reader.Variables(ctx)
	if err != nil {
		return nil, fmt.Errorf("read variables: %w", err)
	}
	mysqlread.Originals(vars, d.hold.Changes())
	out := make([]kasoku.Setting, 0, len(vars))
	for _, name := range slices.Sorted(maps.Keys(vars)) {
		out = append(out, kasoku.Setting{Host: host, Scope: "mysql", Name: name, Value: vars[name]})
	}
	return out, nil
}

// slowLogOn switches the slow log on. Where it may not, the run goes on without, unless
// the error says that another recording needs another sample of the statements.
func (d *database) slowLogOn(ctx context.Context, table bool) (warnings []kasoku.Warning, disagree error) {
	if table {
		warnings = d.wantTable(ctx)
	}
	sessions, err := d.reader.Sessions(ctx)
	if err == nil {
		err = d.hold.Apply(ctx, d.slow)
	}
	warnings = append(warnings, d.setAside()...)
	if err != nil {
		d.table = false
		var other *guard.DisagreeError
		if errors.As(err, &other) {
			disagree = err
		}
		return append(warnings, kasoku.Warning{Code: "no-slow-log", Text: "no slow log: " + err.Error(), Hint: hint(err)}), disagree
	}
	d.open, d.slowOn = sessions.Total(), true
	if slowfile.Ask(ctx, d.db, d.slow.File()) == slowfile.Foreign {
		d.elsewhere = true
		warnings = append(warnings, kasoku.Warning{Code: codeLogForeign,
			Text: d.slow.File() + " here is not the slow log of this database: what it is sent does not come into the file",
			Hint: "record on the database's own host, or with --digests; the file was not read"})
	}
	d.asked = -d.questions(ctx)
	return warnings, nil
}

// digestsOn lets the server count its statements by digest, and notes how far
// they have come. Where it may not, the run goes on without.
func (d *database) digestsOn(ctx context.Context) []kasoku.Warning {
	err := d.hold.Apply(ctx, mysqlread.NewConsumers(d.reader))
	if err == nil {
		d.digests, err = mysqlread.NewSummaries(d.reader).Digests(ctx)
	}
	if err != nil {
		return []kasoku.Warning{{Code: "no-digests", Text: "no " + err.Error(), Hint: hint(err)}}
	}
	return nil
}

// spareDigests notes how far the server's statement digests have come, where it keeps
// them already: for a slow log that sessions of a pool write nothing to.
func (d *database) spareDigests(ctx context.Context) {
	if d.reader.HasSchema() && d.open > 0 && d.digests == nil {
		d.digests, _ = mysqlread.NewSummaries(d.reader).Digests(ctx) // without them the run is as it was
	}
}

// mostlyUnlogged reports whether the slow log lacks most of the statements, and digests have
// more of them.
func (d *database) mostlyUnlogged(entries uint64) bool {
	var counted uint64
	for i := range d.counted {
		counted += d.counted[i].Calls
	}
	want := d.expected()
	return want >= 20 && float64(entries) < want/2 && counted > 2*entries
}

// queries returns what the statements did since digestsOn, by digest.
func (d *database) queries(ctx context.Context) ([]kasoku.Query, []kasoku.Warning) {
	now, err := mysqlread.NewSummaries(d.reader).Digests(ctx)
	if err != nil {
		return nil, []kasoku.Warning{{Code: "no-digests", Text: "no " + err.Error(), Hint: hint(err)}}
	}
	added, restarted := now.Since(d.digests)
	d.tenants.Without(added)
	said := kasoku.Warning{Code: kasoku.CodeDigests, Text: "the queries are statement digests of performance_schema: none " +
		"has its place among the others of its connection"}
	if d.reader.Flavor() == mysqlread.MariaDB {
		said.Text += ", a sample or a distribution of its times; MariaDB counts no statement that a driver runs as a prepared one"
		said.Hint = "the slow log has them: record with --slowlog, on the server's own host"
	}
	warnings := []kasoku.Warning{said}
	if restarted {
		warnings = append(warnings, kasoku.Warning{Code: "digests-restarted", Text: "the statement digests began anew " +
			"during the run: what was counted before is missing",
			Hint: "was the server restarted, or events_statements_summary_by_digest emptied?"})
	}
	if added.Lost > 0 {
		warnings = append(warnings, kasoku.Warning{Code: "digests-full", Text: fmt.Sprintf("%s statements are in no "+
			"class: the server keeps no more digests", unit.Count(added.Lost)),
			Hint: "raise performance_schema_digests_size in the server's option file, or empty " +
				"events_statements_summary_by_digest"})
	}
	return digest.Queries(added), warnings
}

// questions returns the server's count of statements without kasoku's own, NaN
// when it cannot be read. The source must not be reading.
func (d *database) questions(ctx context.Context) float64 {
	var s mysqlread.Status
	if err := d.reader.ReadStatus(ctx, &s); err != nil {
		return math.NaN()
	}
	own := d.reader.Statements() + d.source.Statements() + d.locks.Statements() + d.detail.Statements()
	return d.tenants.Counted(&s, float64(own))
}

// release puts back what was changed on the server, unless another run needs it,
// and stores what became of it. The sampler must have ended.
func (c *changes) release(ctx context.Context) []kasoku.Warning {
	d := c.db
	warnings := d.haltRelaxing()
	if d.braked.Load() != nil {
		d.asked = -1
	} else if d.slowOn {
		d.asked += d.questions(ctx)
	}
	d.hold.Own(d.source.Session(), d.locks.Session(), d.detail.Session())
	err := d.hold.Release(ctx, c.keepChanges)
	d.restored = err == nil
	switch {
	case err != nil && d.hold.Settled():
		warnings = append(warnings, kasoku.Warning{Code: "journal-left",
			Text: "all that was changed on the server is settled, but that could not be stored: " + err.Error(),
			Hint: "`kasoku restore` clears the journal once there is room; nothing is to be put back"})
		err = nil
	case err == nil && c.o.RecycleConnections && d.hold.Heirs().Burden():
		warnings = append(warnings, d.endHeirs(ctx, &c.o)...)
	}
	return append(warnings, d.leftWarnings(ctx, err, c.guardian())...)
}

// changes lists what was altered on the server, and what became of it.
func (d *database) changes() []kasoku.Change {
	return append(changesOf(d.reader.Flavor(), d.hold.Changes()), d.recycledChange()...)
}

// byHand describes how to put back what was not.
func byHand(changes []mysqlread.Changed) string {
	hint := "`kasoku restore` tries again"
	var undo []string
	for _, c := range changes {
		if u := c.Undo(); u != "" && !c.Restored && c.Note == "" {
			undo = append(undo, u+";")
		}
	}
	if len(undo) > 0 {
		hint += "; by hand: " + strings.Join(undo, " ")
	}
	return hint
}

// logged compares the statements that the slow log holds with those that the
// server counted, and says so when they differ: open sessions keep the settings
// they began with.
func (d *database) logged(entries uint64) []kasoku.Warning {
	// Fewer than 20 prove nothing; a tenth is more than what was on its way into
	// the log. A restarted server counts anew, NaN compares as false.
	want := d.expected()
	if !(want >= 20) || float64(entries) >= 0.9*want {
		return nil
	}
	return []kasoku.Warning{{
		Code: "slow-log-partial",
		Text: fmt.Sprintf("the slow log holds %s of %s statements (Questions): sessions that were open before keep the "+
			"settings they began with; %d were open",
			unit.Count(entries), unit.Count(uint64(want)), d.open),
		Hint: d.attempt.Hint(),
	}}
}

func (d *database) close() error {
	var err error
	if d.reader != nil {
		err = d.reader.Close()
	}
	if d.locks != nil {
		err = errors.Join(err, d.locks.Release(), d.detail.Release())
	}
	return errors.Join(err, d.db.Close())
}

// hint returns the hint of an error, empty without one.
func hint(err error) string {
	var h interface{ Hint() string }
	if errors.As(err, &h) {
		return h.Hint()
	}
	return ""
}
