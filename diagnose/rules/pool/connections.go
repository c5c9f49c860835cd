package pool

import (
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/diagnose"
	"github.com/kasoku/kasoku/diagnose/internal/evidence"
	"github.com/kasoku/kasoku/internal/unit"
	"github.com/kasoku/kasoku/observe/mysql"
)

// Thresholds of the rules about connections.
const (
	// reopenedPerRequest is how many connections may be opened and closed again
	// for each request that got through. A pool that keeps its connections has
	// 0 once it is warm; database/sql's default of 2 idle ones gave 0.08 to 0.27
	// at 1,000 req/s without and 0.25 to 0.76 with refusals, measured with an
	// ORM's save on two cores.
	reopenedPerRequest = 0.2
	// remarkedPerRequest is from where on it is a remark. A pool that is a little small for its load
	// lies around the threshold, and the same load gave 0.18 and 0.21 from run to run.
	remarkedPerRequest = 0.1
	// fewConnections is what a handful of clients, probes and cron jobs open.
	fewConnections = 20
	// fewStay is the share of the most connections open at once that an idle
	// limit leaves open when the load is over.
	fewStay = 0.25
	// errTooMany is the number of "Too many connections" in both servers.
	errTooMany = "1040"
)

// connections is what a run says about the connections to its database server
// over the focus.
type connections struct {
	opened   diagnose.Grown // accepted by the server
	open     diagnose.Gauge // Threads_connected
	most     float64        // connections open at once
	requests diagnose.Requests
	refused  float64 // at max_connections; 0 when that was not counted
	served   float64 // requests that got a connection
	reopened float64 // connections opened and closed again
}

// errOthers is why nothing is said of connections that are not the service's.
var errOthers = errors.New("programs outside of the service use this server too, and most of its connections are theirs")

// connectionsOf reads the counters that all pool rules share.
//
// Connections counts what the server accepted. Both manuals say "successful or
// not", but refusals at max_connections are left out: 305 accepted and 1,986
// refused ones gave Connections +305 on MariaDB 10.11.19, and MySQL 9.7 does the
// same. Aborted_connects holds those that were accepted and could not log in, on MariaDB the
// refusals too: they are no use of a pool.
func connectionsOf(c *diagnose.Case) (connections, error) {
	var p connections
	var err error
	if evidence.IsOthers(c) {
		return p, errOthers
	}
	if p.opened, err = c.Counters().Status(mysql.Connections); err != nil {
		return p, err
	}
	if p.requests, err = c.Requests(p.opened.Interval); err != nil {
		return p, err
	}
	if p.open, err = c.Counters().Gauge(kasoku.Key{Source: diagnose.MySQL, Name: mysql.ThreadsConnected}); err != nil {
		return p, err
	}
	p.most = mostOpen(c)
	if g, err := c.Counters().Status(mysql.ConnectionErrorsMaxConnections); err == nil && !evidence.IsShared(c) {
		p.refused = g.By
	}
	denied := 0.0
	if g, err := c.Counters().Status(mysql.AbortedConnects); err == nil {
		if denied = g.By; c.Server() != "MySQL" { // whose count leaves the refusals out
			denied = max(g.By-p.refused, 0)
		}
	}
	p.reopened = max(p.opened.By-denied-max(p.open.Last-p.open.First, 0), 0)
	n := float64(p.requests.Count)
	p.served = max(n-p.refused, n-float64(p.requests.Failed))
	if p.served <= 0 {
		p.served = n
	}
	return p, nil
}

// perServed is how many connections were opened and closed again for each
// request that got through.
func (p connections) perServed() float64 { return p.reopened / p.served }

// sharedSignals say whether what is opened and closed again is the service's, none where no others
// use the server. Of connections of the service that sent statements, those that were open when the
// run began or ended were not opened and closed again: never more than were open at once.
func (p connections) sharedSignals(c *diagnose.Case) []diagnose.Signal {
	if !evidence.IsShared(c) {
		return nil
	}
	own, ok := evidence.OwnConnections(c)
	all, err := c.Requests(c.Whole())
	reopened := own - 2*mostOpen(evidence.WholeRun(c))
	if !ok || err != nil || reopened < fewConnections || reopened < reopenedPerRequest*float64(all.Count) {
		return evidence.SharedServer(c)
	}
	return []diagnose.Signal{{Holds: true}}
}

// churns reports whether POOL-01 holds.
func (p connections) churns() bool {
	return p.perServed() >= reopenedPerRequest && p.reopened >= fewConnections
}

// churnsALittle reports whether POOL-01 holds as a remark at least.
func (p connections) churnsALittle() bool {
	return p.perServed() >= remarkedPerRequest && p.reopened >= fewConnections
}

// refusals is what a run says about connections that the server refused.
type refusals struct {
	counted    diagnose.Grown // Connection_errors_max_connections
	countedErr error
	said       diagnose.Said // the application's lines with Error 1040
	limit      float64       // max_connections, 0 when unknown
	most       float64       // connections open at once, 0 when unknown
	shared     bool          // others use the server too: what it counts is theirs as well
}

func refusalsOf(c *diagnose.Case) refusals {
	var r refusals
	r.counted, r.countedErr = c.Counters().Status(mysql.ConnectionErrorsMaxConnections)
	r.limit, _ = c.Number("max_connections")
	r.shared = evidence.IsShared(c)
	for i, s := range c.Lines().Said(func(m *kasoku.Message) bool { return m.Code == errTooMany }) {
		if i == 0 {
			r.said = s
		} else {
			r.said.Count += s.Count
		}
	}
	r.most = mostOpen(c)
	return r
}

// mostOpen returns how many connections were open at once, 0 when that is
// unknown. Max_used_connections sees what lies between two samples; it is of
// this time only when it grew in it.
func mostOpen(c *diagnose.Case) (most float64) {
	if g, err := c.Counters().Gauge(kasoku.Key{Source: diagnose.MySQL, Name: mysql.ThreadsConnected}); err == nil {
		most = g.Max
	}
	if g, err := c.Counters().Gauge(kasoku.Key{Source: diagnose.MySQL, Name: mysql.MaxUsedConnections}); err == nil &&
		g.Max > g.Min {
		most = max(most, g.Max)
	}
	return most
}

// refused returns how many connections the server refused, as it counted them
// or as the application said: that alone is the service's where others use the server too.
func (r refusals) refused() float64 {
	if r.countedErr == nil && !r.shared {
		return r.counted.By
	}
	return float64(r.said.Count)
}

// fires reports whether POOL-02 holds.
func (r refusals) fires() bool { return r.refused() > 0 || r.said.Message != nil }

// A pool is the size that a pool of connections should have, and why.
type pool struct {
	size    int     // 0 when it is not known
	limit   float64 // max_connections, 0 when unknown
	busy    float64 // connections in use at once, by Little's law; 0 when unknown
	service time.Duration
	perSec  float64
}

// poolOf proposes two thirds of what the server allows, so that a second host,
// a migration and an operator still get in. Little's law says how many are busy
// at once: the asked rate times the service time of a step that was healthy.
func poolOf(c *diagnose.Case) pool {
	p := pool{perSec: c.PerSec()}
	p.limit, _ = c.Number("max_connections")
	t := c.Focus.BaseLoad
	if t == nil && !c.Focus.Broke {
		t = c.Focus.Tally
	}
	if t != nil && t.SuccessRatio() >= 0.99 {
		p.service = t.Service.Mean()
		if p.service == 0 {
			p.service = t.Latency.Mean()
		}
		p.busy = p.perSec * p.service.Seconds()
	}
	switch {
	case p.limit >= 3:
		p.size = int(roundDown(p.limit * 2 / 3))
	case p.limit == 0 && p.busy > 0 && p.busy < 1e6:
		p.size = int(math.Ceil(max(p.busy*4, 10)/10) * 10)
	}
	return p
}

// roundDown cuts a pool size to tens from 50 on: people read 100 more easily
// than 100.67.
func roundDown(v float64) float64 {
	v = math.Min(v, 1e6)
	if v >= 50 {
		return math.Floor(v/10) * 10
	}
	return math.Floor(v)
}

// note describes why the pool should have its size, for a program in Go.
func (p pool) note(server string) string {
	return p.room(server) + "Keep idle equal to open, else the surplus is closed again."
}

// room describes what the size leaves to others, and how many connections are busy.
func (p pool) room(server string) string {
	var s string
	if p.limit > 0 {
		s = fmt.Sprintf("%d leaves %s of %s's %s for other clients, with one process of the app. ",
			p.size, diagnose.Whole(p.limit-float64(p.size)), server, diagnose.Whole(p.limit))
	}
	if p.busy > 0 {
		s += fmt.Sprintf("About %s are busy at once (%s × %s). ", diagnose.Whole(math.Ceil(p.busy)),
			unit.PerSec(p.perSec), unit.Duration(p.service))
	}
	if p.limit > 0 && p.busy > float64(p.size) {
		s += "The others wait in the pool; raise max_connections to let more in. "
	}
	return s
}

// code is the pool's setting as database/sql spells it.
func (p pool) code() string {
	if p.size == 0 {
		return ""
	}
	return fmt.Sprintf("db.SetMaxOpenConns(%d)\ndb.SetMaxIdleConns(%d)\ndb.SetConnMaxIdleTime(5 * time.Minute)",
		p.size, p.size)
}
