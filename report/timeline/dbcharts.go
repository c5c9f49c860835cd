package timeline

import (
	"math"
	"strconv"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/internal/unit"
	"github.com/kasoku/kasoku/observe/mysql"
	"github.com/kasoku/kasoku/report"
)

const (
	// leastAge in seconds is how old a transaction must get for its chart: what is
	// over at the next look explains nothing.
	leastAge = 2
	// mostChannels of a replica have a line.
	mostChannels = 5
)

// statementsChart shows how many statements the database was sent, by all of its clients.
func (r databaseCharts) statementsChart() *plot {
	s := r.Find(kasoku.Key{Source: mysql.Name, Name: mysql.Questions})
	if s == nil || len(s.Points) < 2 {
		return nil
	}
	sent := r.grid.values(r.grid.rates(s))
	c := &plot{Chart: report.Chart{ID: "statements", Title: report.Sentence(r.DatabaseOr()) + " statements",
		Unit: "per second, of all clients", Height: lowHeight}, quotes: []quote{{mysql.Name, mysql.Questions}}}
	c.Series = []report.ChartSeries{{Name: "sent", Colour: "s2", Form: report.Bars, Spans: r.grid.Blocks(sent),
		Values: sent}}
	c.Axis = report.LinearAxis(report.Largest(sent), nil, unit.Plain)
	c.Peaks()
	r.gaps(c, mysql.Name)
	return c
}

// transactionsChart shows the open transactions of the database and how many of them
// wait for a lock, where some waited or one grew old.
func (r databaseCharts) transactionsChart() *plot {
	find := func(name string) *kasoku.Series { return r.Find(kasoku.Key{Source: mysql.Name, Name: name}) }
	active, waiting, oldest := find(mysql.TrxActive), find(mysql.TrxWaiting), find(mysql.TrxOldest)
	if active == nil || len(active.Points) == 0 {
		return nil
	}
	peak := func(s *kasoku.Series) float64 {
		if s == nil {
			return 0
		}
		return report.Largest(r.grid.gauge(s))
	}
	age := peak(oldest)
	if !(age >= leastAge) && !(peak(waiting) > 0) {
		return nil
	}
	c := &plot{Chart: report.Chart{ID: "transactions", Title: "Open transactions", Height: lowHeight},
		quotes: []quote{{"mysql", mysql.TrxActive}, {"mysql", mysql.TrxWaiting}, {"mysql", mysql.TrxOldest}}}
	if age >= leastAge {
		c.Unit = "the oldest was open for " + strconv.FormatFloat(math.Round(age), 'f', -1, 64) + " s"
	}
	c.line(r.grid, "open", "s2", active)
	c.line(r.grid, "waiting for a lock", "bad", waiting)
	c.Axis = report.LinearAxis(peak(active), nil, unit.Plain)
	c.Peaks()
	r.gaps(c, mysql.Name)
	return c
}

// line adds a gauge that has values.
func (c *plot) line(g grid, name, colour string, s *kasoku.Series) {
	if s != nil && len(s.Points) > 0 {
		c.Series = append(c.Series, report.ChartSeries{Name: name, Colour: colour, Form: report.Lines,
			Spans:  g.samples(s),
			Values: g.values(g.gauge(s))})
	}
}

// replicationChart shows how far a replica lags. While that is not
// known, a line has no point.
func (r databaseCharts) replicationChart() *plot {
	c := &plot{Chart: report.Chart{ID: "replication", Title: "Replication lag", Unit: "seconds of lag",
		Height: lowHeight},
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
		c.line(r.grid, name, palette[len(c.Series)], s)
		if m := report.Largest(r.grid.gauge(s)); m > top {
			top = m
		}
	}
	if len(c.Series) == 0 {
		return nil
	}
	c.Axis = report.LinearAxis(top, nil, unit.Plain)
	c.Peaks()
	r.gaps(c, mysql.ReplicationName)
	return c
}

// connectionsChart shows the connections that the database has, under its limit.
func (r databaseCharts) connectionsChart() *plot {
	c := &plot{Chart: report.Chart{ID: "connections", Title: report.Sentence(r.DatabaseOr()) + " connections",
		Height: PlainHeight},
		quotes: []quote{{mysql.Name, mysql.ThreadsConnected}, {mysql.Name, mysql.ThreadsRunning},
			{mysql.Name, mysql.MaxUsedConnections}, {mysql.Name, mysql.ConnectionErrorsMaxConnections}}}
	for _, s := range []struct{ name, colour string }{{mysql.ThreadsConnected, "s2"}, {mysql.ThreadsRunning, "s4"}} {
		if x := r.Find(kasoku.Key{Source: mysql.Name, Name: s.name}); x != nil && len(x.Points) > 0 {
			c.Series = append(c.Series, report.ChartSeries{Name: s.name, Colour: s.colour, Form: report.Lines,
				Spans:  r.grid.samples(x),
				Values: r.grid.values(r.grid.gauge(x))})
		}
	}
	if len(c.Series) == 0 {
		return nil
	}
	of := ""
	if v, ok := r.Setting("mysql", "max_connections"); ok {
		if n, err := strconv.ParseFloat(v, 64); err == nil && n > 0 {
			c.Limits = []report.Limit{{Name: "max_connections " + unit.Plain(n), Value: n, Tone: report.Bad}}
			of = " of " + unit.Plain(n)
		}
	}
	peak := report.Largest(c.Series[0].Values)
	// A limit far beyond what was used would flatten the line; it is then named only.
	if len(c.Limits) > 0 && c.Limits[0].Value > 20*max(peak, 1) {
		c.Unit = "limit " + unit.Plain(c.Limits[0].Value) + ", beyond the axis"
		c.Limits = nil
	}
	c.Axis = report.LinearAxis(peak, c.Limits, unit.Plain)
	c.Peaks()
	r.gaps(c, mysql.Name)
	r.timeline.Sparks = append(r.timeline.Sparks, report.Spark{Name: "connections", Values: c.Series[0].Values,
		Peak: "max " + c.Series[0].Peak + of})
	return c
}

// newConnectionsChart shows how many connections the database let in and how many
// it refused each second. Its counter Connections leaves out the refused ones.
func (r databaseCharts) newConnectionsChart() *plot {
	opened := r.Find(kasoku.Key{Source: mysql.Name, Name: mysql.Connections})
	refused := r.Find(kasoku.Key{Source: mysql.Name, Name: mysql.ConnectionErrorsMaxConnections})
	if opened == nil || len(opened.Points) < 2 {
		return nil
	}
	c := &plot{Chart: report.Chart{ID: "new-connections", Title: "New connections", Unit: "per second",
		Height: PlainHeight},
		quotes: []quote{{"mysql", mysql.Connections}, {mysql.Name, mysql.ConnectionErrorsMaxConnections},
			{mysql.Name, mysql.AbortedConnects}}}
	series := []struct {
		name, colour string
		s            *kasoku.Series
	}{{"accepted", "s2", opened}, {"refused (1040)", "bad", refused}}
	parts := [][]float64{r.grid.rates(opened), r.grid.rates(refused)}
	joined := r.grid.joinWorst(parts[1], parts...)
	for i, x := range series {
		cs := report.ChartSeries{Name: x.name, Colour: x.colour, Form: report.Bars, Values: joined[i],
			Spans: r.grid.Blocks(joined[i])}
		if r.grid.Column == 1 && x.s != nil {
			cs.Spans = rateSpans(x.s)
		}
		c.Series = append(c.Series, cs)
	}
	c.Axis = report.LinearAxis(report.Largest(AddUp(joined...)), nil, unit.Plain)
	c.Peaks()
	return c
}

// rateSpans draws a rate over the whole time between its two samples. Ticks lie
// some milliseconds beside the second; bars are drawn on it.
func rateSpans(s *kasoku.Series) []report.Span {
	var out []report.Span
	for _, r := range s.Rates() {
		out = append(out, report.Span{From: onSecond(r.Interval.From.Seconds()), To: onSecond(r.Interval.To.Seconds()),
			Value: r.PerSec, Low: r.PerSec})
	}
	return out
}

func onSecond(v float64) float64 {
	if w := math.Round(v); math.Abs(w-v) < 0.25 {
		return w
	}
	return v
}
