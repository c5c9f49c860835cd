package record

import (
	"context"
	"errors"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/mysql/explain"
	"github.com/kasoku/kasoku/mysqlflags"
)

// plansWithin bounds how long the server is asked for plans at the end of a run,
// and planWithin one question.
const (
	plansWithin = 10 * time.Second
	planWithin  = time.Second
)

// savePlans asks the server how it runs the statements that took the most time,
// and keeps what it says without the values of the statements. The load is over
// then. A server that does not answer costs the plans, not the run.
func (s *session) savePlans(ctx context.Context) error {
	if s.db == nil || !s.slowRead || s.o.NoPlans {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, plansWithin)
	defer cancel()
	plans, tables, err := explain.Queries(ctx, s.db.reader, s.queries, explain.Options{Schema: mysqlflags.Database(s.o.MySQL), Limit: planWithin})
	if err != nil {
		s.warn(kasoku.Warning{Code: "no-plans", Text: "not all statements have plans: " + err.Error(), Hint: "`kasoku explain` asks again"})
	}
	for i := range plans {
		explain.Mask(&plans[i])
	}
	return errors.Join(s.store.SavePlans(plans), s.store.SaveTables(tables))
}
