package record

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/checkpoint/guard"
	"github.com/kasoku/kasoku/diagnose/recycle"
	"github.com/kasoku/kasoku/internal/contain"
	"github.com/kasoku/kasoku/mysql"
	mysqlkeys "github.com/kasoku/kasoku/observe/mysql"
)

// A slowWay is what decides between the slow log and statement digests, and what the
// slow log leaves in sessions.
type slowWay struct {
	taken    error  // another recording changes the server's settings; nil: none does
	burdens  bool   // sessions that begin during the run would log for as long as they live
	begun    uint64 // sessions since the server's start, when that was asked
	relaxing *relaxing
	sample   int // the slow log holds 1 of so many statements
}

// changes is what a run changes on the database server, and the guard process that puts it
// back should the recorder be killed.
type changes struct {
	*recorder
	guard *guard.Process // nil without one
}

// switchOn switches on what the run wants of the database, watched by the guard
// process.
func (c *changes) switchOn(ctx context.Context) error {
	if c.db != nil && (c.o.SlowLog || c.o.Digests) {
		c.db.claim(ctx)
	}
	if err := c.startGuard(ctx); err != nil {
		return err
	}
	c.o.own = c.ownPIDs()
	instead := false
	if c.o.SlowLog {
		var w []kasoku.Warning
		instead, w = c.chooseWay(ctx)
		c.warn(w...)
	}
	switch {
	case instead:
		c.run.Observers = "no slow log"
	case c.o.SlowLog:
		if no := c.roomForSlowLog(ctx); no != nil {
			c.warn(no...)
		} else {
			w, err := c.db.slowLogOn(ctx, c.o.Join == JoinTable)
			if err != nil && c.o.sampled() {
				return err // a sample was asked for, and would spoil that of another recording
			}
			c.warn(w...)
		}
		if c.db.slowOn {
			c.markSample()
			c.db.spareDigests(ctx)
		} else {
			c.run.Observers = "no slow log"
		}
		if c.db.slowOn && c.o.RecycleConnections {
			c.warn(c.db.recycle(ctx, &c.o)...)
			if c.db.broken != nil {
				return c.db.broken
			}
		}
	}
	if c.o.Digests && !instead {
		c.warn(c.db.digestsOn(ctx)...)
	}
	return nil
}

// claim takes a place among those who change the server's settings.
func (d *database) claim(ctx context.Context) {
	var taken *guard.TakenError
	if err := d.hold.Claim(ctx); errors.As(err, &taken) {
		d.way.taken = err
	} // another error shows when something is to be changed
}

// chooseWay finds out what the slow log would leave, and takes the digests
// instead where that is something and the run does not insist on the log.
func (c *changes) chooseWay(ctx context.Context) (instead bool, warnings []kasoku.Warning) {
	d := c.db
	if d.way.taken != nil {
		w := kasoku.Warning{Code: "no-slow-log", Text: "no slow log: " + d.way.taken.Error(), Hint: hint(d.way.taken)}
		if d.reader.HasSchema() && len(d.digestsOn(ctx)) == 0 {
			w.Text += "; the queries are from statement digests"
		}
		return true, append(warnings, w)
	}
	before, err := d.hold.Before(ctx)
	if err != nil {
		return false, nil // what needs the server says so
	}
	if d.way.burdens = d.slow.Burdens(before); d.way.burdens {
		d.way.begun, _ = mysql.NewClients(d.reader).Begun(ctx) // 0: none is waited for
	}
	if !d.way.burdens || c.insists() || !d.reader.HasSchema() || d.prepares(ctx) {
		return false, nil
	}
	if w := d.digestsOn(ctx); len(w) > 0 {
		return false, nil // the slow log then
	}
	return true, []kasoku.Warning{{
		Code: "digests-instead",
		Text: "the queries are from statement digests: slow_query_log was ON, so sessions that begin while all is logged " +
			"would log all for as long as they live",
		Hint: "`--slowlog` (kasoku.toml: slow_log = true in [mysql]) takes the slow log all the same; " +
			"who issues which query needs it",
	}}
}

// insists reports whether the slow log is wanted, whatever it leaves.
func (c *changes) insists() bool {
	return c.o.SlowLogAnyway || c.o.Join == JoinTail || c.o.Join == JoinTable
}

// prepares reports whether statements are missing in the digests: MariaDB counts none
// that a driver runs as a prepared one.
func (d *database) prepares(ctx context.Context) bool {
	if d.reader.Flavor() != mysql.MariaDB {
		return false
	}
	var st mysql.Status
	if err := d.reader.ReadStatus(ctx, &st); err != nil {
		return false
	}
	executed, _ := st.Get(mysqlkeys.ComStmtExecute)
	all, _ := st.Get(mysqlkeys.Questions)
	return executed > all/100
}

// leftWarnings describes what the run leaves on the server: values, and sessions that keep
// what they copied. Each sentence is from an answer of the server.
func (d *database) leftWarnings(ctx context.Context, err error, guardian string) (warnings []kasoku.Warning) {
	if err != nil {
		text := err.Error() + "; now " + d.hold.Now(ctx)
		if guardian != "" {
			text += "; " + guardian
		}
		warnings = append(warnings, kasoku.Warning{Code: CodeNotRestored, Text: text, Hint: byHand(d.hold.Changes())})
	}
	restarted := false
	for _, c := range d.hold.Changes() {
		switch {
		case c.Note == mysql.NoteRestarted && !restarted:
			restarted = true
			warnings = append(warnings, kasoku.Warning{Code: "server-restarted",
				Text: "the server was restarted meanwhile: it has its own values again"})
		case strings.HasPrefix(c.Note, mysql.NoteForeign):
			warnings = append(warnings, kasoku.Warning{Code: "changed-meanwhile",
				Text: c.Name + " was changed by somebody else meanwhile; " + c.Note,
				Hint: "it was " + c.Before + " before the run: " + c.Undo()})
		}
	}
	switch h := d.hold.Heirs(); {
	case h.Err != nil:
		warnings = append(warnings, kasoku.Warning{Code: CodeSessionsLog,
			Text: "whether sessions that began meanwhile go on logging is " +
				"not known: " + h.Err.Error(), Hint: "`kasoku restore` asks again"})
	case h.Burden():
		warnings = append(warnings, kasoku.Warning{Code: CodeSessionsLog, Text: h.String(), Hint: h.Hint()})
	}
	return warnings
}

// Codes of warnings that say that not all is as it was before the run.
const (
	CodeNotRestored = "not-restored"
	CodeSessionsLog = "sessions-log"
)

// Leftovers returns which changes of a run remain on the database server, from the run's
// warnings; empty when everything was put back.
func Leftovers(rec *kasoku.Recording) string {
	var said []string
	for _, w := range rec.Warnings {
		if w.Code == CodeNotRestored || w.Code == CodeSessionsLog {
			said = append(said, w.Text)
		}
	}
	return strings.Join(said, "; ")
}

// endHeirs ends idle sessions that would go on logging, where that is wanted.
func (d *database) endHeirs(ctx context.Context, o *Options) []kasoku.Warning {
	ended, err := recycle.Around(ctx, o.recycling(d.reader), d.hold.EndHeirs)
	d.attempt.Ended += ended
	return d.notRecycled("sessions that log go on: ", err)
}

// heirsChange notes in a run what sessions keep.
func heirsChange(flavor mysql.Flavor, h guard.Heirs) []kasoku.Change {
	if len(h.Clients) == 0 {
		return nil
	}
	return []kasoku.Change{{Object: strings.ToLower(string(flavor)), Name: "sessions",
		During: "began with the values of the run", Restored: !h.Burden(), Note: h.String()}}
}

// guardian describes who goes on trying; empty without a guard process.
func (c *changes) guardian() string {
	if c.guard == nil {
		return ""
	}
	return c.guard.String()
}

const (
	// settled is for how long no session must have begun, so that those that are measured
	// count as complete.
	settled = 5 * time.Second
	// ownSessions is how many the sampler's sources begin.
	ownSessions = 3
	// relaxEvery is how often the server is asked.
	relaxEvery = time.Second
)

// A relaxing gives sessions that begin late the server's own values again.
type relaxing struct {
	stop context.CancelFunc
	done chan error
}

// startRelaxing begins to watch for the moment at which the measured sessions are
// there. It is only where the slow log was on before, so that late ones would log for
// as long as they live: what begins just after it is missing in the log.
func (c *changes) startRelaxing() {
	if c.db == nil || !c.db.slowOn || !c.db.way.burdens {
		return
	}
	ctx, cancel := context.WithCancel(context.Background())
	r := &relaxing{cancel, make(chan error, 1)}
	quiet := settled
	if c.o.settled > 0 {
		quiet = c.o.settled
	}
	go func() {
		r.done <- contain.Do(contain.Part{Kind: contain.Step, Name: "slow log of new sessions"}, func() error { return c.db.relax(ctx, quiet) })
	}()
	c.db.way.relaxing = r
}

// haltRelaxing ends it.
func (d *database) haltRelaxing() (warnings []kasoku.Warning) {
	if d == nil || d.way.relaxing == nil {
		return nil
	}
	d.way.relaxing.stop()
	if err := <-d.way.relaxing.done; err != nil {
		warnings = append(warnings, kasoku.Warning{Code: "slow-log-settings",
			Text: "the slow log's settings were not switched while sessions came and went: " + err.Error(), Hint: hint(err)})
	}
	d.way.relaxing = nil
	return warnings
}

// relax puts the values that sessions copy back when sessions have begun and no new
// one has for a while, and sets them again as soon as one does.
func (d *database) relax(ctx context.Context, quiet time.Duration) error {
	tick := time.NewTicker(min(relaxEvery, quiet))
	defer tick.Stop()
	var failed error
	begun, err := mysql.NewClients(d.reader).Begun(ctx)
	if err != nil {
		return err
	}
	since, relaxed := time.Now(), false
	for {
		select {
		case <-ctx.Done():
			return failed
		case <-tick.C:
		}
		now, err := mysql.NewClients(d.reader).Begun(ctx)
		switch {
		case err != nil:
		case now != begun:
			begun, since = now, time.Now()
			if relaxed {
				relaxed = false
				err = d.hold.Tighten(ctx)
			}
		case begun > d.way.begun+ownSessions && !relaxed && time.Since(since) >= quiet:
			relaxed, err = d.hold.Relax(ctx)
			since = time.Now()
		}
		if err != nil && ctx.Err() == nil {
			failed = err
		}
	}
}
