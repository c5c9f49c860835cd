package guard

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/kasoku/kasoku/internal/unit"
	"github.com/kasoku/kasoku/mysql"
	"github.com/kasoku/kasoku/mysqlflags"
)

// Heirs are the sessions that copied changed values when they began and keep them
// for as long as they live, although the server has its own values again.
type Heirs struct {
	Clients []mysql.Client
	Exact   bool // the server reported the values of each; else they are those that began meanwhile
	Logging bool // the slow log is on, so that they write to it
	Values  []mysql.Changed
	Err     error // why the sessions are not known; the journal keeps on until they are
}

// Burden reports whether sessions go on writing what they would not without the run.
func (h Heirs) Burden() bool { return h.Logging && len(h.Clients) > 0 }

// mostNamed is how many sessions are named.
const mostNamed = 8

// String returns which sessions there are and what they do.
func (h Heirs) String() string {
	n := len(h.Clients)
	var values []string
	for _, v := range h.Values {
		values = append(values, fmt.Sprintf("%s %s", v.Name, shown(v.During)))
	}
	what := strings.Join(values, ", ")
	text := unit.Counted(n, "session", "sessions") + " that began meanwhile and did not end: "
	if h.Exact {
		text += what + " there"
	} else { // a server that does not report them
		text += what + " there, but where the application has set its own"
	}
	if h.Logging {
		text += "; slow_query_log is ON, so each statement is logged until the session ends"
	} else {
		text += "; slow_query_log is OFF, so nothing is logged until somebody switches it on"
	}
	var names []string
	for _, c := range h.Clients[:min(n, mostNamed)] {
		names = append(names, c.String())
	}
	if n > mostNamed {
		names = append(names, fmt.Sprintf("%d more", n-mostNamed))
	}
	return text + ": " + strings.Join(names, ", ")
}

// Hint returns how to mend it.
func (h Heirs) Hint() string {
	var kill, set []string
	for _, c := range h.Clients[:min(len(h.Clients), 10*mostNamed)] {
		kill = append(kill, fmt.Sprintf("KILL %d;", c.ID))
	}
	for _, v := range h.Values {
		set = append(set, strings.Replace(v.Undo(), "SET GLOBAL", "SET SESSION", 1)+";")
	}
	return strings.Join(kill, " ") + " (its pool opens a new one), or restart the application; in a session of your own: " +
		strings.Join(set, " ") + "; `kasoku restore` looks again, with --recycle-connections it ends those that are idle"
}

func shown(value string) string {
	if value == "" {
		return "''"
	}
	return value
}

// A HeirsError reports that the values are back, but not in all sessions.
type HeirsError struct{ Heirs Heirs }

func (e *HeirsError) Error() string { return e.Heirs.String() }

// Hint returns how to mend it.
func (e *HeirsError) Hint() string { return e.Heirs.Hint() }

// opens remembers, before changes are made, which sessions are older than the changes.
func (j *Journal) opens(ctx context.Context, r *mysql.Reader, changes []mysql.Changed) error {
	if len(mysql.Copied(changes)) == 0 || j.opening() != nil {
		return nil
	}
	newest, err := mysql.NewClients(r).Newest(ctx)
	if err == nil {
		j.Opened = append(j.Opened, mysql.Span{From: newest})
	}
	return err
}

// opening is the span that has not ended; nil without one.
func (j *Journal) opening() *mysql.Span {
	if n := len(j.Opened); n > 0 && j.Opened[n-1].To == 0 {
		return &j.Opened[n-1]
	}
	return nil
}

// closes remembers that the values are back: later sessions copy the originals.
func (j *Journal) closes(ctx context.Context, r *mysql.Reader) error {
	span := j.opening()
	if span == nil {
		return nil
	}
	newest, err := mysql.NewClients(r).Newest(ctx)
	if err == nil {
		span.To = max(newest, span.From+1)
	}
	return err
}

// inherited looks, once the values that sessions copy are back, for those that have
// copied them. The journal keeps on for the sake of those that log.
func (j *Journal) inherited(ctx context.Context, r *mysql.Reader, home string, own ...uint64) (h Heirs, err error) {
	open := func(c mysql.Changed) bool { return pending(&c) }
	if len(j.Opened) == 0 || slices.ContainsFunc(mysql.Copied(j.Changes), open) {
		return h, nil
	}
	if r.RestartedSince(j.Epoch) {
		j.Opened = nil
		return h, nil
	}
	if err := j.closes(ctx, r); err != nil {
		return h, err
	}
	h.Values = mysql.Copied(j.Changes)
	if h.Clients, h.Exact, err = mysql.NewClients(r).Inherited(ctx, h.Values, j.Opened); err != nil {
		return h, err
	}
	standing, err := look(ctx, r, home)
	if err != nil && mysqlflags.ErrorNumber(err) == 0 {
		return h, err
	}
	own = append(own, standing.own...)
	h.Clients = slices.DeleteFunc(h.Clients, func(c mysql.Client) bool { return slices.Contains(own, c.ID) })
	vars, err := r.Variables(ctx)
	if err != nil {
		return h, err
	}
	if h.Logging = vars["slow_query_log"] == "ON"; !h.Burden() {
		j.Opened = nil
	}
	return h, nil
}

// Own names the recorder's other connections, which are no heirs: they log nothing.
func (h *Hold) Own(sessions ...uint64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.own = append(h.own, sessions...)
}

// inheritedOrNot is inherited where the values are back, whatever becomes of the
// question.
func (j *Journal) inheritedOrNot(ctx context.Context, r *mysql.Reader, home string, own ...uint64) Heirs {
	h, err := j.inherited(ctx, r, home, own...)
	h.Err = err
	return h
}

// Heirs returns the sessions that have copied what the recording changed, as of
// Release.
func (h *Hold) Heirs() Heirs {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.heirs
}

// EndHeirs ends those of the heirs that are idle, after Release. It returns how many.
func (h *Hold) EndHeirs(ctx context.Context) (ended int, err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	err = h.turn(ctx, func(j *Journal, save func() error) error {
		if ended, err = endHeirs(ctx, h.r, h.heirs); err != nil {
			return err
		}
		h.heirs, err = j.inherited(ctx, h.r, "", h.own...)
		return errors.Join(err, save())
	})
	return ended, err
}

// endHeirs ends the idle ones and waits until they are gone.
func endHeirs(ctx context.Context, r *mysql.Reader, h Heirs) (int, error) {
	ended, err := mysql.NewClients(r).EndIdle(ctx, h.Clients)
	return ended, errors.Join(err, awaitEnd(ctx, r, h.Clients, len(h.Clients)-ended))
}

// EndHeirs ends those sessions that have copied what was changed and are idle, as the
// journal at the path knows them. Their pools open new ones. It returns how many.
func EndHeirs(ctx context.Context, path, dsn string) (ended int, err error) {
	err = onServer(ctx, path, dsn, func(r *mysql.Reader, j *Journal, home string) error {
		h, err := j.inherited(ctx, r, home)
		if err != nil || !h.Burden() {
			return err
		}
		ended, err = endHeirs(ctx, r, h)
		return err
	})
	return ended, err
}

// awaitEnd waits until so many of the sessions are left; a server takes a moment.
func awaitEnd(ctx context.Context, r *mysql.Reader, clients []mysql.Client, left int) error {
	var ids []uint64
	for _, c := range clients {
		ids = append(ids, c.ID)
	}
	limit := time.NewTimer(connectWithin)
	defer limit.Stop()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		n, err := mysql.NewClients(r).Open(ctx, ids)
		if err != nil || n <= left {
			return err
		}
		select {
		case <-tick.C:
		case <-limit.C:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}
