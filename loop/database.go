package loop

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/mysqlflags"
	"github.com/kasoku/kasoku/mysqlread"
	"github.com/kasoku/kasoku/observe/mysql"
	"github.com/kasoku/kasoku/unit"
)

// connectWithin bounds the first connection to a database, so that a server
// that hangs does not hang the recorder.
const connectWithin = 5 * time.Second

// database is the database that a run watches. The sampler has a connection of
// its own, so that a count of rows never delays a tick.
type database struct {
	db     *sql.DB
	source *mysql.Source     // samples over a connection of its own
	reader *mysqlread.Reader // for settings, rows, slow log
	slow   *mysqlread.SlowLog
	slowOn bool

	asked float64 // statements of others while the slow log was on; below 0 when unknown
}

func openDatabase(ctx context.Context, dsn string) (_ *database, err error) {
	ctx, cancel := context.WithTimeout(ctx, connectWithin)
	defer cancel()
	d := &database{}
	if d.db, err = mysqlflags.OpenDSN(dsn); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, d.close())
		}
	}()
	if d.reader, err = mysqlread.New(ctx, d.db); err != nil {
		return nil, fmt.Errorf("database %s: %w", mysqlflags.Redact(dsn), err)
	}
	d.source = mysql.New(d.db)
	d.slow = mysqlread.NewSlowLog(d.reader)
	return d, nil
}

// settings returns the server's variables as they are without what the run
// itself has changed.
func (d *database) settings(ctx context.Context, host string) ([]kasoku.Setting, error) {
	vars, err := d.reader.Variables(ctx)
	if err != nil {
		return nil, fmt.Errorf("read variables: %w", err)
	}
	for _, c := range d.slow.Changes() {
		vars[c.Name] = c.Before
	}
	out := make([]kasoku.Setting, 0, len(vars))
	for _, name := range slices.Sorted(maps.Keys(vars)) {
		out = append(out, kasoku.Setting{Host: host, Scope: "mysql", Name: name, Value: vars[name]})
	}
	return out, nil
}

func (d *database) flavor() string { return strings.ToLower(string(d.reader.Flavor())) }

// slowLogOn switches the slow log on. Where it may not, the run goes on without.
func (d *database) slowLogOn(ctx context.Context) []kasoku.Warning {
	if _, err := d.slow.On(ctx, mysqlread.Settings{}); err != nil {
		return []kasoku.Warning{{Code: "no-slow-log", Text: "no slow log: " + err.Error(), Hint: hint(err)}}
	}
	d.slowOn = true
	d.asked = -d.questions(ctx)
	return nil
}

// questions returns the server's count of statements without kasoku's own, NaN
// when it cannot be read. The end of a session is counted as a statement (COM_QUIT)
// but is none that a slow log holds. The source must not be reading.
func (d *database) questions(ctx context.Context) float64 {
	var s mysqlread.Status
	if err := d.reader.ReadStatus(ctx, &s); err != nil {
		return math.NaN()
	}
	var v [3]float64
	for i, name := range []string{"Questions", "Connections", "Threads_connected"} {
		var ok bool
		if v[i], ok = s.Get(name); !ok {
			return math.NaN()
		}
	}
	ended := v[1] - v[2]
	return v[0] - ended - float64(d.reader.Statements()) - float64(d.source.Statements())
}

// slowLogOff puts back what slowLogOn changed. The sampler must have ended.
func (d *database) slowLogOff(ctx context.Context) ([]kasoku.Change, []kasoku.Warning) {
	if !d.slowOn {
		return nil, nil
	}
	d.slowOn = false
	d.asked += d.questions(ctx)
	var warnings []kasoku.Warning
	if err := d.slow.Restore(ctx); err != nil {
		warnings = append(warnings, kasoku.Warning{Code: "not-restored", Text: err.Error(),
			Hint: "put these back yourself: " + list(d.slow.Changes())})
	}
	return d.changes(), warnings
}

// changes lists what was altered on the server, and what became of it.
func (d *database) changes() []kasoku.Change {
	var out []kasoku.Change
	for _, c := range d.slow.Changes() {
		out = append(out, kasoku.Change{Object: d.flavor(), Name: c.Name, Before: c.Before, During: c.During, Restored: c.Restored, Note: c.Note})
	}
	return out
}

func list(changes []mysqlread.Changed) string {
	var out []string
	for _, c := range changes {
		if !c.Restored {
			out = append(out, fmt.Sprintf("SET GLOBAL %s = %s;", c.Name, quoteValue(c.Before)))
		}
	}
	return strings.Join(out, " ")
}

func quoteValue(v string) string {
	if strings.Trim(v, "0123456789.") == "" && v != "" {
		return v
	}
	return "'" + strings.ReplaceAll(v, "'", "''") + "'"
}

// logged compares the statements that the slow log holds with those that the
// server counted, and says so when they differ: open sessions keep the settings
// they began with.
func (d *database) logged(entries uint64) []kasoku.Warning {
	// Fewer than 20 prove nothing; a tenth is more than what was on its way into
	// the log. A restarted server counts anew, NaN compares as false.
	if !(d.asked >= 20) || float64(entries) >= 0.9*d.asked {
		return nil
	}
	return []kasoku.Warning{{
		Code: "slow-log-partial",
		Text: fmt.Sprintf("the slow log holds %s of %s statements (Questions): sessions that were open before keep the settings they began with; %d were open",
			unit.Count(entries), unit.Count(uint64(d.asked)), d.slow.OpenBefore()),
		Hint: "start the recording before the application, or restart the application's connection pool",
	}}
}

func (d *database) close() error {
	var err error
	if d.reader != nil {
		err = d.reader.Close()
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
