package recording

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/internal/unit"
	"github.com/kasoku/kasoku/report"
	"github.com/kasoku/kasoku/report/cell"
	"github.com/kasoku/kasoku/report/logfile"
	"github.com/kasoku/kasoku/report/recorded"
)

// EndpointsSection shows the requests of the access log by endpoint.
func EndpointsSection(r recorded.View) report.Section {
	s := report.Section{ID: report.SectionEndpoints, Title: "Endpoints", Count: len(r.Endpoints)}
	ws := r.Windows("accesslog")
	if len(r.Endpoints) == 0 {
		if len(ws) > 0 {
			s.Blocks = []report.Block{report.Para{Text: report.Prose("No request in the access log: " +
				recorded.LinesRead(ws) + ".")}}
		}
		return s
	}
	s.Sub = "From the access log: service time as the app saw it, without the wait before it."
	if (logTables{r}).severalLogs() {
		host, _ := r.FrontLog()
		s.Sub += report.Prose(" Requests are counted by the log of " + host + ", which has most.")
	}
	if len(ws) > 0 {
		s.Sub += report.Prose(" " + report.Sentence(recorded.LinesRead(ws)) + ".")
	}
	logs := logTables{r}
	together := logs.putTogether()
	s.Blocks = []report.Block{logs.endpointTable(together)}
	if t := logs.variantTable(together); t != nil {
		s.Blocks = append(s.Blocks, t)
	}
	return s
}

// logTables shows the requests of the access log.
type logTables struct{ recorded.View }

func (r logTables) endpointTable(together putTogether) *report.Table {
	es := slices.Clone(r.Endpoints)
	slices.SortStableFunc(es, func(a, b kasoku.Endpoint) int { return cmp.Compare(b.Total, a.Total) })
	var all, rest time.Duration
	var ds []time.Duration
	for i := range es {
		all += es[i].Total
		if i < r.Options.Rows() {
			ds = append(ds, es[i].Latency.Quantile(0.99), es[i].Latency.Mean())
		} else {
			rest += es[i].Total
		}
	}
	u := cell.CommonUnit(ds...)
	t := &report.Table{ID: "endpoints", Columns: endpointColumns(unit.Name(u))}
	several := r.severalLogs()
	if several {
		t.Columns = slices.Insert(t.Columns, 1, report.Column{Key: "host", Head: "host"})
	}
	for i := range es[:min(r.Options.Rows(), len(es))] {
		cells := endpointCells(&es[i], all, u)
		cells[0].Small = together.folded(&es[i])
		if several {
			cells = slices.Insert(cells, 1, cell.Text(es[i].Host))
		}
		t.Rows = append(t.Rows, report.Row{Cells: cells,
			Key: report.EndpointKey(es[i].Host, es[i].Method, es[i].Route)})
	}
	if n := len(es) - r.Options.Rows(); n > 0 {
		t.More = report.LeftOut(n, float64(rest)/float64(max(all, 1)), "time")
	}
	return t
}

// severalLogs reports whether more than one host has an access log.
func (r logTables) severalLogs() bool {
	return slices.ContainsFunc(r.Endpoints, func(e kasoku.Endpoint) bool { return e.Host != r.Endpoints[0].Host })
}

func endpointColumns(u string) []report.Column {
	cols := []report.Column{
		{Key: "endpoint", Head: "endpoint", Code: true, Cut: true},
		{Key: "requests", Head: "requests", Align: report.Right},
		{Key: "success", Head: "2xx", Align: report.Right, Drop: 6},
		{Key: "client_errors", Head: "4xx", Align: report.Right, Drop: 7},
		{Key: "server_errors", Head: "5xx", Align: report.Right},
		{Key: "share_ratio", Head: "share of time", Unit: "%", Align: report.Decimal, Drop: 3},
	}
	for _, q := range []string{"mean", "p50", "p95", "p99", "max"} {
		c := report.Column{Key: q + "_s", Head: q, Unit: u, Align: report.Decimal}
		switch q {
		case "p50":
			c.Drop = 2
		case "max":
			c.Drop = 4
		}
		cols = append(cols, c)
	}
	return append(cols, report.Column{Key: "body_bytes", Head: "body", Unit: "bytes, mean", Align: report.Decimal,
		Drop: 5})
}

func endpointName(e *kasoku.Endpoint) string { return strings.TrimSpace(e.Method + " " + e.Route) }

func endpointCells(e *kasoku.Endpoint, all, u time.Duration) []report.Cell {
	var ok, client uint64
	for code, n := range e.Codes {
		switch {
		case code >= 200 && code < 400:
			ok += n
		case code >= 400 && code < 500:
			client += n
		}
	}
	failed := cell.Count(e.Failed())
	if e.Failed() > 0 {
		failed.Tone = report.Bad
	}
	cells := []report.Cell{
		cell.Text(endpointName(e)), cell.Count(e.Count), cell.Count(ok), cell.Count(client), failed,
		cell.Percent(float64(e.Total) / float64(max(all, 1))),
	}
	if all == 0 { // the log has no times
		cells[len(cells)-1] = cell.None()
	}
	h := e.Latency
	if h.Count() == 0 {
		cells = append(cells, cell.None(), cell.None(), cell.None(), cell.None(), cell.None())
	} else {
		cells = append(cells, cell.Duration(h.Mean(), u), cell.Duration(h.Quantile(0.5), u),
			cell.Duration(h.Quantile(0.95), u),
			cell.Duration(h.Quantile(0.99), u), cell.Duration(h.Max(), u))
	}
	return append(cells, cell.Number(float64(e.Bytes)/float64(max(e.Count, 1))))
}

// slowestSection shows the slowest requests as a log's own document does.
func slowestSection(r recorded.View) report.Section {
	log := logfile.AccessLog{Slowest: r.Slowest[:min(len(r.Slowest), report.MostRows)], Started: r.Wall(0)}
	return log.SlowestSection(r.Options)
}

// MessagesSection shows the messages of the logs, lines alike counted together, the
// most severe first.
func MessagesSection(r recorded.View) report.Section {
	ms := slices.DeleteFunc(slices.Clone(r.Messages), saidByBenchmark)
	s := report.Section{ID: report.SectionMessages, Title: "Messages", Count: len(ms)}
	ws := append(r.Windows("applog"), r.Windows("errorlog")...)
	if len(ms) == 0 {
		if len(ws) > 0 {
			s.Blocks = []report.Block{report.Para{Text: report.Prose("No message in the application's log: " +
				recorded.LinesRead(ws) + ".")}}
		}
		return s
	}
	s.Sub = "From the application's log, lines alike counted together; the first of each is quoted."
	if len(ws) > 0 {
		s.Sub += report.Prose(" " + report.Sentence(recorded.LinesRead(ws)) + ".")
	}
	slices.SortStableFunc(ms, func(a, b kasoku.Message) int {
		return cmp.Or(cmp.Compare(severity(b), severity(a)), cmp.Compare(b.Count, a.Count))
	})
	t := &report.Table{ID: "messages", Columns: []report.Column{
		{Key: "message", Head: "message", Code: true, Cut: true},
		{Key: "count", Head: "count", Align: report.Right},
		{Key: "level", Head: "level", Drop: 3},
		{Key: "first", Head: "first", Align: report.Right, Drop: 1},
		{Key: "last", Head: "last", Align: report.Right, Drop: 2},
	}}
	ofNginx := slices.ContainsFunc(ms, func(m kasoku.Message) bool { return m.Kind == kasoku.MessageNginx })
	if ofNginx {
		t.Columns = slices.Insert(t.Columns, 3, report.Column{Key: "of", Head: "of", Drop: 4})
		s.Sub = report.Prose(strings.Replace(string(s.Sub), "the application's log",
			"the logs of the application and of nginx", 1))
	}
	var rest uint64
	for i, m := range ms {
		if i >= r.Options.Rows() {
			rest += m.Count
			continue
		}
		line := m.Sample
		if line == "" {
			line = m.Pattern
		}
		n := cell.Count(m.Count)
		if severity(m) > 0 {
			n.Tone = report.Bad
		}
		t.Rows = append(t.Rows, report.Row{Cells: []report.Cell{cell.Text(line), n,
			cell.Text(cmp.Or(m.Level, unit.Missing)),
			{Text: r.Clock(m.First), Raw: report.RawNumber(m.First.Seconds())},
			{Text: r.Clock(m.Last), Raw: report.RawNumber(m.Last.Seconds())}}})
		if ofNginx {
			row := &t.Rows[len(t.Rows)-1]
			row.Cells = slices.Insert(row.Cells, 3, cell.Text(cmp.Or(m.Kind, "application")))
		}
	}
	if n := len(ms) - r.Options.Rows(); n > 0 {
		t.More = unit.Count(n) + " more kinds, " + unit.Counted(rest, "line", "lines")
	}
	s.Blocks = []report.Block{t}
	return s
}

func saidByBenchmark(m kasoku.Message) bool { return m.Kind == kasoku.MessageBenchmark }

// wordsTable is what the benchmark said beside its score; nil when that is nothing.
func wordsTable(r recorded.View) *report.Table {
	said := slices.DeleteFunc(slices.Clone(r.Messages), func(m kasoku.Message) bool { return !saidByBenchmark(m) })
	if len(said) == 0 {
		return nil
	}
	t := &report.Table{ID: "benchmark", Title: "What the benchmark said", Columns: []report.Column{
		{Key: "message", Head: "message", Code: true, Cut: true},
		{Key: "count", Head: "count", Align: report.Right},
		{Key: "level", Head: "level", Drop: 3},
		{Key: "first", Head: "first", Align: report.Right, Drop: 1},
		{Key: "last", Head: "last", Align: report.Right, Drop: 2},
	}}
	for i, m := range said {
		if i == report.MostRows {
			t.More = unit.Count(len(said)-i) + " more kinds"
			break
		}
		n := cell.Count(m.Count)
		if severity(m) > 0 {
			n.Tone = report.Bad
		}
		t.Rows = append(t.Rows, report.Row{Cells: []report.Cell{cell.Text(m.Sample), n, cell.Text(cmp.Or(m.Level, unit.Missing)),
			{Text: r.Clock(m.First), Raw: report.RawNumber(m.First.Seconds())},
			{Text: r.Clock(m.Last), Raw: report.RawNumber(m.Last.Seconds())}}})
	}
	t.Note = "Lines alike are counted together, and have the time at which they were printed; what its result alone counts has the time of its end."
	return t
}

// severity puts errors before the rest.
func severity(m kasoku.Message) int {
	if m.Level == "error" || m.Code != "" {
		return 1
	}
	return 0
}
