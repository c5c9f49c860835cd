package mysql

import (
	"context"
	"sync"

	"github.com/kasoku/kasoku/mysql"
	"github.com/kasoku/kasoku/mysqlflags"
)

// An ownWork is what kasoku's sessions on a server added to its counters of temporary tables,
// scans, sorts and rows. Those that sample take more of these than many an application does at
// rest: of an idle MySQL 9.7 twelve temporary tables on disk a second.
type ownWork struct {
	turn  sync.Mutex    // of who works for Apart, or reads the server
	apart *mysql.Reader // that worked since the server was read; guarded by turn

	mu       sync.Mutex // guards sessions
	sessions map[uint64]map[string]float64
}

// read asks a reader of a server for what its session did until now. What is none, as in tests,
// did nothing.
func (o *ownWork) read(ctx context.Context, reader any) error {
	r, ok := reader.(interface {
		OwnWork(context.Context) (uint64, []mysql.Value, error)
	})
	if !ok {
		return nil
	}
	id, values, err := r.OwnWork(ctx)
	if mysqlflags.ErrorNumber(err) != 0 {
		return nil // a server without these tables
	}
	if err != nil {
		return err
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.sessions == nil {
		o.sessions = map[uint64]map[string]float64{}
	}
	session := o.sessions[id] // one that has ended keeps its last
	if session == nil {
		session = map[string]float64{}
		o.sessions[id] = session
	}
	for _, v := range values {
		session[v.Name] = v.Value
	}
	return nil
}

// Apart does a piece of work by another reader's session, and not while the source reads the server, which
// waits for it: work has to end within a second or two. What the session did is taken out of what the source
// says from its next reading on, however many pieces there were.
func (s *Source) Apart(r *mysql.Reader, work func()) {
	s.own.turn.Lock()
	defer s.own.turn.Unlock()
	s.own.apart = r
	work()
}

// of returns what all of the sessions added to a counter, by its name in lower case, and whether
// they count it at all.
func (o *ownWork) of(name string) (sum float64, counted bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, s := range o.sessions {
		v, ok := s[name]
		sum, counted = sum+v, counted || ok
	}
	return sum, counted
}

// An others is one of the server's counters without what kasoku added. It never falls but where
// the server's does: a session can be read a moment before the server or after it.
type others struct {
	raw   float64 // the server's, at the last reading
	begun float64 // what kasoku had added when the server began to count
	value float64
	known bool
}

// take returns the value of now.
func (o *others) take(raw, own float64) float64 {
	if !o.known || raw < o.raw { // it counts anew
		o.value, o.begun = raw, own
	}
	o.value = max(o.value, raw-(own-o.begun))
	o.raw, o.known = raw, true
	return o.value
}
