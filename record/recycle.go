package record

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/diagnose/recycle"
	"github.com/kasoku/kasoku/internal/unit"
	"github.com/kasoku/kasoku/mysql"
)

// recycleWithin bounds how long idle sessions are waited for.
const recycleWithin = 3 * time.Second

// recycle ends the idle sessions of the database: what it logs of a session is
// copied into it when it begins.
func (d *database) recycle(ctx context.Context, o *Options) []kasoku.Warning {
	r, err := recycle.Run(ctx, o.recycling(d.reader))
	d.attempt = recycle.Attempt{Asked: true, Ended: r.Ended, Err: err}
	warnings := d.notRecycled("sessions that were open go on without the slow log: ", err)
	return append(warnings, recycle.Busy(r, recycleWithin)...)
}

// notRecycled words what became of an attempt, and keeps the error of a broken application.
func (d *database) notRecycled(what string, err error) []kasoku.Warning {
	if errors.As(err, new(*recycle.BrokenError)) {
		d.broken = err
	}
	return recycle.Warned(what, err)
}

// recycling says whose sessions may be ended, and which request shows that the application
// answers.
func (o *Options) recycling(r *mysql.Reader) recycle.Options {
	out := recycle.Options{Reader: r, Within: recycleWithin, Confirmed: o.Reconnects, URL: o.Service.URL}
	if o.Load != nil {
		out.Targets = o.Load.Targets
	}
	if o.Probe != nil {
		out.Permit = o.Probe.Permit
	}
	out.Service = recycle.Look(askService(*o), lookWithin)
	return out
}

// recycledChange describes what was done to the sessions.
func (d *database) recycledChange() []kasoku.Change {
	if d.attempt.Ended == 0 {
		return nil
	}
	return []kasoku.Change{{
		Object: strings.ToLower(string(d.reader.Flavor())), Name: "idle sessions", Before: unit.Count(uint64(d.attempt.Ended)) + " open", During: "ended, so that new ones are logged", Restored: true,
	}}
}
