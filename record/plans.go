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
func (e *ending) savePlans(ctx context.Context) error {
	if e.db == nil || !e.logs.slowRead || e.o.NoPlans {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, plansWithin)
	defer cancel()
	plans, tables, err := explain.Queries(ctx, e.db.reader, e.logs.queries, explain.Options{Schema: mysqlflags.Database(e.o.MySQL), Limit: planWithin})
	if err != nil {
		e.warn(kasoku.Warning{Code: "no-plans", Text: "not all statements have plans: " + err.Error(), Hint: "`kasoku explain` asks again"})
	}
	for i := range plans {
		explain.Mask(&plans[i])
	}
	return errors.Join(e.store.SavePlans(plans), e.store.SaveTables(tables))
}
