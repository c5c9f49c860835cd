package record

import (
	"context"
	"errors"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/mysql"
	"github.com/kasoku/kasoku/record/callers"
)

// How the times of statements are known that show which endpoint runs which.
const (
	JoinAuto  = "auto"  // as the server's slow log has them; where those are whole seconds, as JoinTail
	JoinTail  = "tail"  // from the slow log's file, looked at every 5 ms
	JoinTable = "table" // from the slow log's table
	JoinOff   = "off"   // not looked for
)

// joins reports whether the run looks for who issues which query.
func (s *session) joins() bool { return !s.o.sampled() && s.couldJoin() }

// couldJoin reports whether it would with all statements.
func (s *session) couldJoin() bool {
	return s.o.Join != JoinOff && s.db != nil && s.db.slowOn && len(s.o.accessLogs()) > 0
}

// startJoin begins to look at the logs that need it.
func (s *session) startJoin(ctx context.Context) {
	if !s.joins() {
		return
	}
	s.db.asked = -s.db.questions(ctx) // as the logs are read from here on
	s.join = callers.Start(callers.Times{Fine: s.db.fineTimes(), Table: s.db.table}, s.marksOf("accesslog"), s.marksOf("slowlog"))
}

// fineTimes reports whether the slow log's file has microseconds.
func (d *database) fineTimes() bool {
	return d.reader.Flavor() == mysql.MySQL && d.reader.Version().AtLeast(5, 7, 2)
}

// joined is what the search for callers knows of the run.
func (s *session) joined() *callers.Run {
	r := &callers.Run{
		Host: s.host(), Start: s.start, Length: s.run.Length, Clock: s.clock, Table: s.access, Endpoints: s.endpoints,
		Doubled: len(doubled(s.accessRead)) > 0, Queries: s.queries, Configs: s.taken.Configs, SlowTable: s.db.reader.SlowTable,
	}
	for _, l := range s.logs {
		if l.kind == "accesslog" {
			r.Access = append(r.Access, callers.AccessLog{Mark: l.mark, Zone: l.zone})
		}
	}
	return r
}

// saveJoin finds out who issues which query and stores it. All logs were read.
func (s *session) saveJoin(ctx context.Context) error {
	if s.join == nil {
		if j := s.refusedJoin(); j != nil {
			return s.store.SaveJoins(j)
		}
		return nil
	}
	j, found, err := s.join.Infer(ctx, s.joined())
	if err != nil {
		return err
	}
	s.callers = found
	return errors.Join(s.store.SaveJoins([]kasoku.Join{*j}), s.store.SaveCallers(found))
}
