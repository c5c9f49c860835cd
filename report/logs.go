package report

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/diagnose"
	"github.com/kasoku/kasoku/internal/unit"
)

func EndpointsSection(r rec) Section {
	s := Section{ID: SectionEndpoints, Title: "Endpoints", Count: len(r.Endpoints)}
	ws := r.windows("accesslog")
	if len(r.Endpoints) == 0 {
		if len(ws) > 0 {
			s.Blocks = []Block{Para{Text: Prose("No request in the access log: " + read(ws) + ".")}}
		}
		return s
	}
	s.Sub = "From the access log: service time as the app saw it, without the wait before it."
	if (logTables{r}).severalLogs() {
		host, _ := diagnose.FrontLog(r.Recording)
		s.Sub += Prose(" Requests are counted by the log of " + host + ", which has most.")
	}
	if len(ws) > 0 {
		s.Sub += Prose(" " + Sentence(read(ws)) + ".")
	}
	s.Blocks = []Block{logTables{r}.endpointTable()}
	return s
}

// logTables shows the requests of the access log.
type logTables struct{ rec }

func (r logTables) endpointTable() *Table {
	es := slices.Clone(r.Endpoints)
	slices.SortStableFunc(es, func(a, b kasoku.Endpoint) int { return cmp.Compare(b.Total, a.Total) })
	var all, rest time.Duration
	var ds []time.Duration
	for i := range es {
		all += es[i].Total
		if i < mostRows {
			ds = append(ds, es[i].Latency.Quantile(0.99), es[i].Latency.Mean())
		} else {
			rest += es[i].Total
		}
	}
	u := commonUnit(ds...)
	t := &Table{ID: "endpoints", Columns: endpointColumns(unit.Name(u))}
	several := r.severalLogs()
	if several {
		t.Columns = slices.Insert(t.Columns, 1, Column{Key: "host", Head: "host"})
	}
	for i := range es[:min(mostRows, len(es))] {
		cells := endpointCells(&es[i], all, u)
		if several {
			cells = slices.Insert(cells, 1, text(es[i].Host))
		}
		t.Rows = append(t.Rows, Row{Cells: cells})
	}
	if n := len(es) - mostRows; n > 0 {
		t.More = leftOut(n, float64(rest)/float64(max(all, 1)), "time")
	}
	return t
}

// severalLogs reports whether more than one host has an access log.
func (r logTables) severalLogs() bool {
	return slices.ContainsFunc(r.Endpoints, func(e kasoku.Endpoint) bool { return e.Host != r.Endpoints[0].Host })
}

func endpointColumns(u string) []Column {
	cols := []Column{
		{Key: "endpoint", Head: "endpoint", Code: true, Cut: true},
		{Key: "requests", Head: "requests", Align: Right},
		{Key: "success", Head: "2xx", Align: Right, Drop: 6},
		{Key: "client_errors", Head: "4xx", Align: Right, Drop: 7},
		{Key: "server_errors", Head: "5xx", Align: Right},
		{Key: "share_ratio", Head: "share of time", Unit: "%", Align: Decimal, Drop: 3},
	}
	for _, q := range []string{"mean", "p50", "p95", "p99", "max"} {
		c := Column{Key: q + "_s", Head: q, Unit: u, Align: Decimal}
		switch q {
		case "p50":
			c.Drop = 2
		case "max":
			c.Drop = 4
		}
		cols = append(cols, c)
	}
	return append(cols, Column{Key: "body_bytes", Head: "body", Unit: "bytes, mean", Align: Decimal, Drop: 5})
}

func endpointCells(e *kasoku.Endpoint, all, u time.Duration) []Cell {
	var ok, client uint64
	for code, n := range e.Codes {
		switch {
		case code >= 200 && code < 400:
			ok += n
		case code >= 400 && code < 500:
			client += n
		}
	}
	failed := count(e.Failed())
	if e.Failed() > 0 {
		failed.Tone = Bad
	}
	cells := []Cell{
		text(strings.TrimSpace(e.Method + " " + e.Route)), count(e.Count), count(ok), count(client), failed,
		percent(float64(e.Total) / float64(max(all, 1))),
	}
	h := e.Latency
	if h.Count() == 0 {
		cells = append(cells, none(), none(), none(), none(), none())
	} else {
		cells = append(cells, duration(h.Mean(), u), duration(h.Quantile(0.5), u), duration(h.Quantile(0.95), u),
			duration(h.Quantile(0.99), u), duration(h.Max(), u))
	}
	return append(cells, number(float64(e.Bytes)/float64(max(e.Count, 1))))
}

// slowestSection shows the slowest requests as a log's own document does.
func slowestSection(r rec) Section {
	log := AccessLog{Slowest: r.Slowest[:min(len(r.Slowest), mostRows)], Started: r.wall(0)}
	return log.slowestSection(r.o)
}

func MessagesSection(r rec) Section {
	s := Section{ID: SectionMessages, Title: "Messages", Count: len(r.Messages)}
	ws := append(r.windows("applog"), r.windows("errorlog")...)
	if len(r.Messages) == 0 {
		if len(ws) > 0 {
			s.Blocks = []Block{Para{Text: Prose("No message in the application's log: " + read(ws) + ".")}}
		}
		return s
	}
	s.Sub = "From the application's log, lines alike counted together; the first of each is quoted."
	if len(ws) > 0 {
		s.Sub += Prose(" " + Sentence(read(ws)) + ".")
	}
	ms := slices.Clone(r.Messages)
	slices.SortStableFunc(ms, func(a, b kasoku.Message) int {
		return cmp.Or(cmp.Compare(severity(b), severity(a)), cmp.Compare(b.Count, a.Count))
	})
	t := &Table{ID: "messages", Columns: []Column{
		{Key: "message", Head: "message", Code: true, Cut: true},
		{Key: "count", Head: "count", Align: Right},
		{Key: "level", Head: "level", Drop: 3},
		{Key: "first", Head: "first", Align: Right, Drop: 1},
		{Key: "last", Head: "last", Align: Right, Drop: 2},
	}}
	ofNginx := slices.ContainsFunc(ms, func(m kasoku.Message) bool { return m.Kind == kasoku.MessageNginx })
	if ofNginx {
		t.Columns = slices.Insert(t.Columns, 3, Column{Key: "of", Head: "of", Drop: 4})
		s.Sub = Prose(strings.Replace(string(s.Sub), "the application's log",
			"the logs of the application and of nginx", 1))
	}
	var rest uint64
	for i, m := range ms {
		if i >= mostRows {
			rest += m.Count
			continue
		}
		line := m.Sample
		if line == "" {
			line = m.Pattern
		}
		n := count(m.Count)
		if severity(m) > 0 {
			n.Tone = Bad
		}
		t.Rows = append(t.Rows, Row{Cells: []Cell{text(line), n, text(cmp.Or(m.Level, unit.Missing)),
			{Text: r.clock(m.First), Raw: raw(m.First.Seconds())},
			{Text: r.clock(m.Last), Raw: raw(m.Last.Seconds())}}})
		if ofNginx {
			row := &t.Rows[len(t.Rows)-1]
			row.Cells = slices.Insert(row.Cells, 3, text(cmp.Or(m.Kind, "application")))
		}
	}
	if n := len(ms) - mostRows; n > 0 {
		t.More = unit.Count(n) + " more kinds, " + unit.Counted(rest, "line", "lines")
	}
	s.Blocks = []Block{t}
	return s
}

// severity puts errors before the rest.
func severity(m kasoku.Message) int {
	if m.Level == "error" || m.Code != "" {
		return 1
	}
	return 0
}
