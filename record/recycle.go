package record

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/internal/unit"
)

// recycleWithin bounds how long idle sessions are waited for.
const recycleWithin = 3 * time.Second

// recycle ends the idle sessions of the database: what it logs of a session is
// copied into it when it begins.
func (d *database) recycle(ctx context.Context) []kasoku.Warning {
	r, err := d.reader.Recycle(ctx, recycleWithin)
	d.recycled = r.Ended
	switch {
	case err != nil:
		return []kasoku.Warning{{Code: "not-recycled", Text: "sessions that were open go on without the slow log: " + err.Error(), Hint: hint(err)}}
	case r.Left > 0:
		return []kasoku.Warning{{Code: "not-recycled",
			Text: fmt.Sprintf("%s of the sessions that were open when the slow log was switched on were busy for %s and go on without it", unit.Count(uint64(r.Left)), unit.Exact(recycleWithin)),
			Hint: "start the recording before the load, or restart the application"}}
	}
	return nil
}

// recycledChange says what was done to the sessions.
func (d *database) recycledChange() []kasoku.Change {
	if d.recycled == 0 {
		return nil
	}
	return []kasoku.Change{{
		Object: strings.ToLower(string(d.reader.Flavor())), Name: "idle sessions", Before: unit.Count(uint64(d.recycled)) + " open", During: "ended, so that new ones are logged", Restored: true,
	}}
}
