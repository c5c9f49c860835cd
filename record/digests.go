package record

import (
	"context"
	"slices"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/store"
)

// digests are the statements of a run by digest, for where no slow log is read.
type digests struct {
	*recorder
	logs *logbook

	queries []kasoku.Query
	about   []kasoku.Warning // nil when none were read
}

// read asks the database what its statements did during the run.
func (d *digests) read(ctx context.Context) {
	if d.db.digests == nil {
		return
	}
	d.queries, d.about = d.db.queries(ctx)
	d.db.counted = d.queries
	if d.waits() && len(d.about) > 0 {
		d.about[0].Text += "; they were counted while the run waited to begin, too"
	}
}

// save stores them as the run's queries, unless a slow log gave it those.
func (d *digests) save() error {
	if d.logs.slowRead || d.about == nil {
		return nil
	}
	for i := range d.queries {
		d.queries[i].Host = d.host()
	}
	d.logs.queries = slices.Clone(d.queries)
	for i := range d.queries {
		if !d.o.KeepStatements {
			d.queries[i].Raw = ""
		}
	}
	d.warn(d.about...)
	return store.Save(d.store, d.queries)
}
