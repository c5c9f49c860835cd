package record

import (
	"context"
	"errors"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/mysql"
	"github.com/kasoku/kasoku/record/callers"
	"github.com/kasoku/kasoku/store"
)

// How the times of statements are known that show which endpoint runs which.
const (
	JoinAuto  = "auto"  // as the server's slow log has them; where those are whole seconds, as JoinTail
	JoinTail  = "tail"  // from the slow log's file, looked at every 5 ms
	JoinTable = "table" // from the slow log's table
	JoinOff   = "off"   // not looked for
)

// joining finds out which endpoint runs which statements.
type joining struct {
	*recorder
	config *configuration
	logs   *logbook

	join    *callers.Joiner // nil when it is not looked for
	callers []kasoku.Caller // that are known
	joined  []kasoku.Join   // how well; with join
}

// joins reports whether the run looks for who issues which query.
func (j *joining) joins() bool { return !j.o.sampled() && j.couldJoin() }

// couldJoin reports whether it would with all statements.
func (j *joining) couldJoin() bool {
	return j.o.Join != JoinOff && j.db != nil && j.db.slowOn && len(j.o.accessLogs()) > 0
}

// begin begins to look at the logs that need it.
func (j *joining) begin(ctx context.Context) {
	if !j.joins() {
		return
	}
	j.db.asked = -j.db.questions(ctx) // as the logs are read from here on
	j.join = callers.Start(callers.Times{Fine: j.db.fineTimes(), Table: j.db.table}, j.logs.marksOf("accesslog"), j.logs.marksOf("slowlog"))
}

// fineTimes reports whether the slow log's file has microseconds.
func (d *database) fineTimes() bool {
	return d.reader.Flavor() == mysql.MySQL && d.reader.Version().AtLeast(5, 7, 2)
}

// known is what the search for callers knows of the run.
func (j *joining) known() *callers.Run {
	r := &callers.Run{
		Host: j.host(), Start: j.start, Length: j.run.Length, Clock: j.clock, Table: j.logs.access, Endpoints: j.logs.endpoints,
		Doubled: len(callers.WarnDoubled(j.logs.accessRead)) > 0, Queries: j.logs.queries, Configs: j.config.taken.Configs, SlowTable: mysql.NewSlowTable(j.db.reader).Each,
	}
	for _, l := range j.logs.files {
		if l.kind == "accesslog" {
			r.Access = append(r.Access, callers.AccessLog{Mark: l.mark, Zone: l.zone})
		}
	}
	return r
}

// save finds out who issues which query and stores it. All logs were read.
func (j *joining) save(ctx context.Context) error {
	if j.join == nil {
		if refused := j.refusedJoin(); refused != nil {
			return store.Save(j.store, refused)
		}
		return nil
	}
	joined, found, err := j.join.Infer(ctx, j.known())
	if err != nil {
		return err
	}
	j.callers, j.joined = found, []kasoku.Join{*joined}
	return errors.Join(store.Save(j.store, j.joined), store.Save(j.store, found))
}
