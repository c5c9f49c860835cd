package pool

import (
	"fmt"
	"math"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/diagnose"
	"github.com/kasoku/kasoku/diagnose/internal/evidence"
	"github.com/kasoku/kasoku/diagnose/internal/language"
	"github.com/kasoku/kasoku/diagnose/internal/wording"
	"github.com/kasoku/kasoku/internal/unit"
	"github.com/kasoku/kasoku/observe/mysql"
)

// Refused is the rule POOL-02.
type Refused struct{}

// ID returns POOL-02.
func (Refused) ID() string { return "POOL-02" }

// Doc describes the rule.
func (Refused) Doc() diagnose.Doc {
	return diagnose.Doc{
		Summary: `finds a server that refuses connections at max_connections.`,
		Evidence: `the server's Connection_errors_max_connections grew, or the application's log has Error
			1040. It is borne out when the connections open at once reached max_connections and requests
			failed in the same time.`,
		Cause: `the application may open more connections than the server allows, so that requests fail
			where they could have waited for one.`,
		Fix: `cap the pool's open connections below the limit first, then raise max_connections, at the
			price of its memory.`,
		Silent: `when nothing was refused; blind when neither the server's counter nor the application's
			log was recorded, or when the server was restarted. Where programs outside of the service use
			the server too, only the application's log says whose connections were refused; the rule does
			not say who opens too many.`,
	}
}

// Check looks for refused connections.
func (r Refused) Check(c *diagnose.Case) ([]kasoku.Finding, []kasoku.Silence) {
	s := refusalsOf(c)
	if !s.fires() {
		return nil, r.silence(c, s)
	}
	server := c.Server()
	title := server + " refuses connections at max_connections"
	clause := server + " refuses connections"
	if s.limit > 0 {
		title = fmt.Sprintf("%s = %s", title, diagnose.Whole(s.limit))
		clause = fmt.Sprintf("%s beyond %s", clause, diagnose.Whole(s.limit))
	}
	p, err := connectionsOf(c)
	first := err == nil && p.churns()
	if first && s.limit > 0 {
		clause = fmt.Sprintf("%s refuses all beyond %s", server, diagnose.Whole(s.limit))
	}
	return []kasoku.Finding{{
		ID: r.ID(), Object: kasoku.Object{Kind: "variable", Name: "max_connections"},
		Title: wording.Capital(title), Clause: clause, Severity: kasoku.Problem,
		Confidence: diagnose.Confidence(r.signals(c, s)...),
		Impact:     kasoku.Impact{Share: evidence.FailedShare(c, s.refused()), Of: evidence.OfRequests(c), Shared: []string{"POOL-01"}},
		Evidence:   r.evidence(c, s), Cause: r.cause(c, s), Fixes: r.fixes(c, first),
		Expect: "Connection_errors_max_connections +0",
		Verify: "repeat the load: Max_used_connections must stay near the cap of the pool, and no Error " +
			errTooMany + " in the application's log",
		Explains: []string{"MES-07", "POOL-04"}, Interval: c.Focus.Interval,
	}}, nil
}

func (r Refused) silence(c *diagnose.Case, s refusals) []kasoku.Silence {
	switch {
	case s.countedErr != nil && !c.Lines().HasAppLog():
		return diagnose.Blind(r.ID(), s.countedErr)
	case s.shared && s.counted.By > 0 && !c.Lines().HasAppLog():
		return diagnose.Blind(r.ID(), evidence.CheckOwn(c, "refused connections"))
	case s.shared && s.counted.By > 0:
		return diagnose.Quiet(r.ID(), 0, "the server refused %s connections, and the application's log has no Error %s: "+
			"programs outside of the service use the server too", diagnose.Whole(s.counted.By), errTooMany)
	case s.limit > 0 && s.most > 0:
		return diagnose.Quiet(r.ID(), s.most/s.limit, "no connection was refused; %s of %s were open at once",
			diagnose.Whole(s.most), diagnose.Whole(s.limit))
	case s.countedErr != nil:
		return diagnose.Quiet(r.ID(), 0, "the application's log has no Error %s; %v", errTooMany, s.countedErr)
	}
	return diagnose.Quiet(r.ID(), 0, "no connection was refused: Connection_errors_max_connections +0")
}

func (Refused) signals(c *diagnose.Case, s refusals) []diagnose.Signal {
	counted := diagnose.Signal{Holds: s.countedErr == nil && s.counted.By > 0, Lacks: "the server counted none"}
	if s.countedErr != nil {
		counted.Blind = s.countedErr.Error()
	}
	full := diagnose.Signal{Holds: s.most >= s.limit, Lacks: "fewer were seen open at once than allowed"}
	if s.limit == 0 || s.most == 0 {
		full.Blind = "max_connections or the connections open at once were not recorded"
	}
	said := diagnose.Signal{Holds: s.said.Message != nil, Lacks: "no Error " + errTooMany + " in the application's log"}
	if !c.Lines().HasAppLog() {
		said.Blind = c.Lines().NoLog("applog")
	}
	failed, of := c.Failed()
	failing := diagnose.Signal{Holds: float64(failed) >= s.refused()/2,
		Lacks: "fewer requests failed than connections were refused"}
	if of == 0 {
		failing.Blind = "no requests were counted"
	}
	return []diagnose.Signal{counted, full, said, failing}
}

func (Refused) evidence(c *diagnose.Case, s refusals) []kasoku.Evidence {
	var out []kasoku.Evidence
	if s.said.Message != nil {
		out = append(out, c.Quote().Quoted(s.said, true))
	}
	for i, m := range c.Lines().Said(isConnectionError) {
		if i < 2 {
			out = append(out, c.Quote().Quoted(m, false))
		}
	}
	if s.countedErr == nil {
		out = append(out, c.Quote().Counted(s.counted, true))
	}
	if s.most > 0 {
		keys := []kasoku.Key{{Source: diagnose.MySQL, Name: mysql.ThreadsConnected}}
		out = append(out, kasoku.Evidence{
			Source: "status", Text: "connections open at once", Note: "Max_used_connections, Threads_connected",
			Value: diagnose.Whole(s.most), Number: s.most, Strong: true, Series: keys, Interval: c.Focus.Interval,
		})
	}
	if s.limit > 0 {
		out = append(out, c.Quote().Variable("max_connections"))
	}
	over := c.Focus.Interval
	if s.countedErr == nil {
		over = s.counted.Interval // so that both count the same time
	}
	if r, err := c.Requests(over); err == nil && r.Failed > 0 {
		e := c.Quote().Asked(r)
		e.Text, e.Note = "requests that failed", "of "+unit.Count(r.Count)
		if name, share := diagnose.MostFailed(c, c.Focus.Interval); share == 1 {
			e.Text = name + ", failed"
		}
		e.Value, e.Number = unit.Count(r.Failed), float64(r.Failed)
		out = append(out, e)
	}
	return out
}

func (Refused) cause(c *diagnose.Case, s refusals) string {
	limit := "max_connections"
	if s.limit > 0 {
		limit = diagnose.Whole(s.limit)
	}
	text := ""
	if t := c.Focus.Tally; t != nil && c.PerSec() > 0 && t.Latency.Count() > 0 {
		mean, peak := t.Latency.Mean(), ""
		if c.PerSec()*mean.Seconds() < s.limit {
			peak = ", and more at times"
		}
		text = fmt.Sprintf("%s requests are in flight on average (%s × %s)%s; each wants its own connection. ",
			diagnose.Whole(c.PerSec()*mean.Seconds()), unit.PerSec(c.PerSec()), unit.Duration(mean), peak)
	}
	if evidence.IsShared(c) {
		return text + fmt.Sprintf("Programs outside of the service use this server too; together its clients open more "+
			"connections than the %s that %s allows, and it refuses the rest with Error %s.", limit, c.Server(), errTooMany)
	}
	text += fmt.Sprintf("The app does not cap its open connections below the %s that %s allows, so %s refuses the "+
		"rest with Error %s",
		limit, c.Server(), c.Server(), errTooMany)
	if failed, _ := c.Failed(); failed > 0 {
		return text + " and their requests fail."
	}
	return text + "."
}

// fixes puts the cap first: raising the limit alone only moves it.
func (r Refused) fixes(c *diagnose.Case, churns bool) []kasoku.Fix {
	p := poolOf(c)
	capped := kasoku.Fix{
		Text:  "Cap the pool's open connections below max_connections first, so that requests wait instead of failing",
		Where: "where the database is opened", Note: p.note(c.Server()), Risk: kasoku.RiskAppRestart,
	}
	if code := p.code(); code != "" {
		capped = language.Snippet(c, capped, language.Go, code)
	}
	if language.Of(c) != language.Go {
		capped.Note = p.room(c.Server()) + language.Pick(c, capWords)
	}
	if churns {
		capped = kasoku.Fix{Text: "Apply the fix of POOL-01 first: its cap keeps the app below the limit",
			Risk: kasoku.RiskNone}
	}
	raised := raisedLimit(p)
	note := "Only if more clients join, such as a second host of the app. " + memoryPrice(c, raised-p.limit)
	if p.limit == 0 {
		return append(evidence.Clients(c), capped)
	}
	return append(evidence.Clients(c),
		capped,
		kasoku.Fix{Text: "Then raise max_connections", Where: "now, until the next restart",
			Code: fmt.Sprintf("SET GLOBAL max_connections = %.0f;", raised), Note: note, Risk: kasoku.RiskNone,
			Lang: "sql"},
		kasoku.Fix{Text: "Keep it over restarts", Where: "my.cnf", Lang: "ini", Risk: kasoku.RiskNone,
			Code: fmt.Sprintf("[mysqld]\nmax_connections = %.0f", raised)})
}

// raisedLimit proposes twice the present limit, or half more than are busy at once
// where that is more, cut to fifties.
func raisedLimit(p pool) float64 {
	v := math.Floor(2*p.limit/50) * 50
	if need := math.Ceil(1.5*p.busy/50) * 50; need > v {
		v = need
	}
	return min(max(v, p.limit+10), 100000) // the servers' upper bound
}

// memoryPrice describes what more connections cost when all of them are busy: the
// buffers that one session may take, each once.
//
// Source: MySQL 9.7 manual, "How MySQL Uses Memory"; the same buffers in MariaDB.
func memoryPrice(c *diagnose.Case, more float64) string {
	var each float64
	for _, name := range [...]string{"sort_buffer_size", "join_buffer_size", "read_buffer_size",
		"read_rnd_buffer_size", "thread_stack"} {
		v, ok := c.Number(name)
		if !ok || v < 0 || v > 1e12 {
			return "Each open connection takes memory for its stack and buffers."
		}
		each += v
	}
	return fmt.Sprintf("%s more × %s = %s if all are busy.", diagnose.Whole(more), unit.BytesIEC(uint64(each)),
		unit.BytesIEC(uint64(each*min(max(more, 0), 1e6))))
}

// capWords are how applications bound their connections, by library and language: drivers without a
// pool open one for each worker.
var capWords = map[string]string{
	language.ActiveRecord: "ActiveRecord: pool in config/database.yml, times the workers.",
	language.PHPFPM:       "PHP-FPM has workers and no pool: pm.max_children bounds the connections.",
	language.Django:       "Django opens one for each worker and thread: bound workers times threads.",
	language.SQLAlchemy:   "SQLAlchemy: pool_size and max_overflow, for each worker.",
	language.JavaScript:   "What bounds them is connectionLimit of createPool, times the processes.",
	language.HikariCP:     "HikariCP: maximumPoolSize, times the processes.",
	language.RustSQLX:     "sqlx: max_connections of MySqlPoolOptions, times the processes.",
	language.Unknown: "What bounds them is the pool's size, or the number of workers and threads where each " +
		"opens its own.",
}
