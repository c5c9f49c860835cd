package report

import (
	"math"
	"strconv"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/internal/unit"
	"github.com/kasoku/kasoku/observe/mysql"
)

const (
	// leastAge in seconds is how old a transaction must get for its chart: what is
	// over at the next look explains nothing.
	leastAge = 2
	// mostChannels of a replica have a line.
	mostChannels = 5
)

// transactionsChart shows the open transactions of the database and how many of them
// wait for a lock, where some waited or one grew old.
func (r rec) transactionsChart(g grid, _ *Timeline) *Chart {
	find := func(name string) *kasoku.Series { return r.Find(kasoku.Key{Source: mysql.Name, Name: name}) }
	active, waiting, oldest := find(mysql.TrxActive), find(mysql.TrxWaiting), find(mysql.TrxOldest)
	if active == nil || len(active.Points) == 0 {
		return nil
	}
	peak := func(s *kasoku.Series) float64 {
		if s == nil {
			return 0
		}
		return most(g.gauge(s))
	}
	age := peak(oldest)
	if !(age >= leastAge) && !(peak(waiting) > 0) {
		return nil
	}
	c := &Chart{ID: "transactions", Title: "Open transactions", Height: lowHeight,
		quotes: []quote{{mysql.Name, mysql.TrxActive}, {mysql.Name, mysql.TrxWaiting}, {mysql.Name, mysql.TrxOldest}}}
	if age >= leastAge {
		c.Unit = "the oldest was open for " + strconv.FormatFloat(math.Round(age), 'f', -1, 64) + " s"
	}
	c.line(g, "open", "s2", active)
	c.line(g, "waiting for a lock", "bad", waiting)
	c.Axis = linearAxis(peak(active), nil, unit.Plain)
	c.peaks()
	r.gaps(c, mysql.Name)
	return c
}

// line adds a gauge that has values.
func (c *Chart) line(g grid, name, colour string, s *kasoku.Series) {
	if s != nil && len(s.Points) > 0 {
		c.Series = append(c.Series, ChartSeries{Name: name, Colour: colour, Form: Lines, Spans: g.samples(s),
			Values: g.values(g.gauge(s))})
	}
}

// replicationChart shows how far a replica lags. While that is not
// known, a line has no point.
func (r rec) replicationChart(g grid, _ *Timeline) *Chart {
	c := &Chart{ID: "replication", Title: "Replication lag", Unit: "seconds behind the source", Height: lowHeight,
		quotes: []quote{{mysql.ReplicationName, mysql.ReplicationLag}}}
	palette := [mostChannels]string{"s2", "s4", "s1", "s3", "s5"}
	top := 0.0
	for _, s := range r.FindAll(mysql.ReplicationName, mysql.ReplicationLag) {
		if len(c.Series) == mostChannels {
			break
		}
		name := s.Key.Instance
		if name == "" {
			name = mysql.ReplicationLag
		}
		c.line(g, name, palette[len(c.Series)], s)
		if m := most(g.gauge(s)); m > top {
			top = m
		}
	}
	if len(c.Series) == 0 {
		return nil
	}
	c.Axis = linearAxis(top, nil, unit.Plain)
	c.peaks()
	r.gaps(c, mysql.ReplicationName)
	return c
}
