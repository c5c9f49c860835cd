package record

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/diagnose/indexcheck"
	"github.com/kasoku/kasoku/mysql/explain"
	"github.com/kasoku/kasoku/mysqlflags"
	"github.com/kasoku/kasoku/store"
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
	if e.db == nil || len(e.logs.queries) == 0 || e.o.NoPlans {
		return nil
	}
	asking, cancel := context.WithTimeout(ctx, plansWithin)
	defer cancel()
	plans, tables, err := explain.Queries(asking, e.db.reader, e.logs.queries, explain.Options{Schema: mysqlflags.Database(e.o.MySQL), Limit: planWithin})
	if err != nil {
		e.warn(kasoku.Warning{Code: "no-plans", Text: "not all statements have plans: " + err.Error(), Hint: "`kasoku explain` asks again"})
	}
	for i := range plans {
		explain.Mask(&plans[i])
	}
	if e.o.CheckIndexes && err == nil {
		e.checkIndexes(ctx, plans, tables)
	}
	return errors.Join(store.Save(e.store, plans), store.Save(e.store, tables))
}

// plansLimit bounds all that is asked with the plans.
func (e *ending) plansLimit() time.Duration {
	if e.o.CheckIndexes && !e.o.NoPlans {
		return plansWithin + indexcheck.Within
	}
	return plansWithin
}

// checkIndexes asks a private server about the indexes that the rules will propose: they
// see the statements as the run keeps them.
func (e *ending) checkIndexes(ctx context.Context, plans []kasoku.Plan, tables []kasoku.TableDef) {
	e.progress(Progress{Phase: PhaseAnalyse, Text: "indexes: asking a private server"})
	kept := slices.Clone(e.logs.queries)
	for i := range kept {
		if !e.o.KeepStatements {
			kept[i].Raw = ""
		}
	}
	rec := &kasoku.Recording{Queries: kept, Plans: plans, Tables: tables,
		Settings: []kasoku.Setting{{Scope: "mysql", Name: "version", Value: e.db.reader.Version().Text}}}
	if err := indexcheck.Check(ctx, e.db.reader, rec, e.logs.queries); err != nil {
		e.warn(kasoku.Warning{Code: "indexes", Text: "indexes are not checked: " + err.Error()})
	}
}
