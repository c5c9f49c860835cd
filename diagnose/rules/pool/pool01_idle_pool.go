package pool

import (
	"fmt"
	"math"
	"strconv"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/diagnose"
	"github.com/kasoku/kasoku/diagnose/internal/evidence"
	"github.com/kasoku/kasoku/diagnose/internal/language"
	"github.com/kasoku/kasoku/diagnose/internal/wording"
	"github.com/kasoku/kasoku/internal/unit"
	"github.com/kasoku/kasoku/observe/expvar"
	"github.com/kasoku/kasoku/observe/mysql"
	"github.com/kasoku/kasoku/observe/sockets"
)

// IdlePool is the rule POOL-01.
type IdlePool struct{}

// ID returns POOL-01.
func (IdlePool) ID() string { return "POOL-01" }

// Doc describes the rule.
func (IdlePool) Doc() diagnose.Doc {
	return diagnose.Doc{
		Summary: `finds a pool of connections that closes most of them after one use.`,
		Evidence: `at least 0.2 connections are opened and closed again for each request that gets
			through, and at least 20 in all. It is borne out when many more were opened than were ever open at
			once, few stay open once the load is over, the clients close them rather than the server, and
			sockets pile up in TIME_WAIT. From 0.1 to 0.2 it is a remark.`,
		Cause: `the pool's idle limit is far below the number of connections in use at once, so each burst
			opens new ones, with a TCP and a login handshake each, and closes all but a few. database/sql
			keeps 2 unless another limit is set.`,
		Fix: `idle limit equal to a limit of open connections of two thirds of max_connections.`,
		Silent: `without the server's Connections and Threads_connected or without a count of requests;
			when the server was restarted in the focus; when most connections are of programs outside of the service; when connections were opened and stayed, as while a
			pool warms up. Where programs outside of the service use the server too, it does not say who
			opens them, and its confidence is medium at most where the slow log does not have as many
			connections of the service.`,
	}
}

// Check looks for connections that are closed after one use.
func (r IdlePool) Check(c *diagnose.Case) ([]kasoku.Finding, []kasoku.Silence) {
	p, err := connectionsOf(c)
	if err != nil {
		return nil, diagnose.Blind(r.ID(), err)
	}
	if !p.churnsALittle() {
		if p.reopened < fewConnections {
			return nil, diagnose.Quiet(r.ID(), min(p.perServed()/remarkedPerRequest, p.reopened/fewConnections),
				"%s connections were opened and closed again, %s per request; the thresholds are %d and %s",
				diagnose.Whole(p.reopened), unit.Sig3(p.perServed()), fewConnections, unit.Plain(remarkedPerRequest))
		}
		return nil, diagnose.Quiet(r.ID(), p.perServed()/remarkedPerRequest,
			"connections opened and closed again were %s per request; the threshold is %s", unit.Sig3(p.perServed()),
			unit.Plain(remarkedPerRequest))
	}
	size := poolOf(c)
	title, clause := r.words(c, p)
	impact := r.impact(c, p)
	f := kasoku.Finding{
		ID: r.ID(), Object: kasoku.Object{Kind: "pool", Name: "idle connections"},
		Title: title, Clause: clause, Severity: evidence.SeverityOf(impact.Share),
		Confidence: diagnose.Confidence(r.signals(c, p)...), Impact: impact,
		Evidence: r.evidence(c, p), Cause: r.cause(c, p),
		Fixes:    append(evidence.Clients(c), r.fix(c, size)),
		Expect:   "connections opened and closed again per request below 0.05, and no Error " + errTooMany,
		Verify:   "repeat the load: Connections may grow by no more than the size of the pool",
		Explains: []string{"POOL-04", "MES-07"}, Interval: c.Focus.Interval,
	}
	if !p.churns() {
		f.Severity, f.Explains = kasoku.Info, nil
	}
	return []kasoku.Finding{f}, nil
}

// words returns the title and the clause of the verdict.
func (IdlePool) words(c *diagnose.Case, p connections) (title, clause string) {
	switch n := p.perServed(); {
	case evidence.IsShared(c):
		return fmt.Sprintf("The database server accepts %s new connections per request of the load", unit.Sig3(n)),
			fmt.Sprintf("%s database connections are opened per request", unit.Sig3(n))
	case n >= 0.8 && n < 1.5:
		return "The app opens a new database connection for almost every request",
			"the app opens a database connection per request"
	default:
		return fmt.Sprintf("The app opens %s new database connections per request", unit.Sig3(n)),
			fmt.Sprintf("the app opens %s database connections per request", unit.Sig3(n))
	}
}

func (IdlePool) signals(c *diagnose.Case, p connections) []diagnose.Signal {
	s := []diagnose.Signal{
		{Holds: true},
		{Holds: p.opened.By >= 2*p.most, Lacks: "not many more were opened than were open at once"},
	}
	stay := diagnose.Signal{Holds: p.open.Last <= fewStay*p.most, Lacks: "most stay open after the load"}
	if !c.Counters().Quiet() {
		stay.Blind = "no time without load follows"
	}
	s = append(s, stay)
	byClient := diagnose.Signal{Lacks: "the server cuts connections off"}
	if g, err := c.Counters().Status(mysql.AbortedClients); err != nil {
		byClient.Blind = err.Error()
	} else {
		byClient.Holds = g.By < 0.1*p.opened.By
	}
	waiting := diagnose.Signal{Lacks: "few sockets wait in TIME_WAIT"}
	if g, err := c.Counters().Gauge(waitingSockets(c)); err != nil {
		waiting.Blind = "sockets were not recorded"
	} else {
		waiting.Holds = g.Max-g.First >= 0.1*p.reopened
	}
	return append(append(s, byClient, waiting), p.sharedSignals(c)...)
}

// waitingSockets is the series of sockets in TIME_WAIT of connections to the database: others of
// the host have theirs too. Where no member is the database, its own port names it.
func waitingSockets(c *diagnose.Case) kasoku.Key {
	if db := c.Member(kasoku.RoleDatabase); db != nil {
		for _, l := range db.Listeners {
			if n := l.Port(); n != 0 {
				return kasoku.Key{Host: db.Host, Source: sockets.Name, Name: sockets.TCPTimeWait,
					Instance: "to " + strconv.Itoa(n)}
			}
		}
		return kasoku.Key{Source: sockets.Name, Name: sockets.TCPTimeWait, Instance: "to a path"} // none has it
	}
	port, _ := c.Setting(diagnose.MySQL, "port") // without one there is no such series
	return kasoku.Key{Source: sockets.Name, Name: sockets.TCPTimeWait, Instance: "to " + port}
}

// whyReopened is why connections are closed after one use, by mapper and language: what they
// do unless configured otherwise.
//
// Sources: Go, database/sql, DefaultMaxIdleConns; PHP manual, PDO, "Connections and
// Connection management"; Django, "Databases", CONN_MAX_AGE; SQLAlchemy, "Connection Pooling"
// and "Engine Disposal": an engine has a pool of its own, and is to be made once for each process;
// Rails guide, "Database pooling"; HikariCP, README, minimumIdle and idleTimeout; sqlx, PoolOptions.
var whyReopened = map[string]string{
	language.Go: "The pool keeps few idle connections (database/sql: 2 unless configured otherwise) and " +
		"closes the others after one use.",
	language.PHP:    "PHP has no pool: each request opens its connection, and closes it at its end.",
	language.Python: "The program opens a connection for a request, and the next one does not use it.",
	language.Django: "The program opens a connection, uses it for one request and closes it, as Django does " +
		"unless CONN_MAX_AGE is set.",
	language.SQLAlchemy: "Connections are used for one request, as with SQLAlchemy where an engine, which has a pool of " +
		"its own, is made for each request, or where it has none (NullPool).",
	language.Ruby:       "The program opens a connection, uses it and closes it; the next request does not use it.",
	language.JavaScript: "The program opens a connection, uses it and closes it; a pool would keep it.",
	language.Java: "The program opens a connection from its data source, uses it and closes it: the source " +
		"has no pool, or one that keeps few.",
	language.Rust: "The program opens a connection, uses it and closes it, or makes a pool for each request; one pool " +
		"for the program would keep them.",
	language.Unknown: "The application opens connections, and closes them after one use.",
}

// A connection that PHP keeps, and what comes with it.
const (
	persistentPDO = "- new PDO($dsn, $name, $secret)\n" +
		"+ new PDO($dsn, $name, $secret, [PDO::ATTR_PERSISTENT => true]) // mysqli: the host \"p:127.0.0.1\""
	leftOpen = "What a request leaves open, a transaction or a lock, the next one has."
)

// keepOpen is how connections are kept, by library and language. Go's depends on the size of the pool.
var keepOpen = map[string]kasoku.Fix{
	language.Django: {
		Text: "Let each worker keep its connection", Where: "settings.py, in the database of DATABASES", Lang: "python",
		Code: "\"CONN_MAX_AGE\": 300,\n\"CONN_HEALTH_CHECKS\": True,", Risk: kasoku.RiskAppRestart,
		Note: "There are as many connections as workers × threads then, which must stay below max_connections.",
	},
	language.SQLAlchemy: {
		Text: "Make one engine for each process, and keep it", Where: "where create_engine is called", Lang: "python",
		Code: "engine = create_engine(url, pool_size=5, pool_recycle=300, pool_pre_ping=True)",
		Note: "At import or from a cache, not for each request, and without dispose() or NullPool. Before a fork no " +
			"connection may be open. pool_size × engines × processes must stay below max_connections.",
		Risk: kasoku.RiskAppRestart,
	},
	language.ActiveRecord: {
		Text: "Keep a connection for each thread", Where: "config/database.yml", Risk: kasoku.RiskAppRestart,
		Note: "Let pool be at least as large as the threads of a worker, and nothing that disconnects after a request. There are " +
			"as many connections as workers × threads, which must stay below max_connections.",
	},
	language.HikariCP: {
		Text: "Keep as many connections as the pool may have", Where: "where the pool is configured",
		Risk: kasoku.RiskAppRestart, Note: "HikariCP: minimumIdle as maximumPoolSize, which is its default; " +
			"its size × processes must stay below max_connections.",
	},
	language.Knex: {
		Text: "Keep connections in the pool", Where: "knex's options", Risk: kasoku.RiskAppRestart,
		Note: "In knex: pool: { min: 10, max: 10 }. Each process has a pool of its own: max × processes must stay below " +
			"max_connections.",
	},
	language.RustSQLX: {
		Text: "Make one pool where the program starts, and share it", Where: "main, in the state of the program",
		Risk: kasoku.RiskAppRestart,
		Note: "In sqlx a clone of a MySqlPool is the same pool; min_connections keeps as many open, max_connections (10) × " +
			"processes must stay below the server's.",
	},
	language.PHP: {
		Text: "Let each worker keep its connection", Where: "where the connection is opened",
		Lang: "php", Code: persistentPDO, Risk: kasoku.RiskAppRestart,
		Note: "There are as many connections as workers then, which must stay below max_connections. " + leftOpen,
	},
	language.PHPFPM: {
		Text: "Let each worker of PHP-FPM keep its connection", Where: "where the connection is opened",
		Lang: "php", Code: persistentPDO, Risk: kasoku.RiskAppRestart,
		Note: "There are as many connections as workers then: pm.max_children must stay below max_connections. " + leftOpen,
	},
	language.Python: {
		Text: "Let each worker keep its connection", Where: "where the connection is opened", Risk: kasoku.RiskAppRestart,
		Note: "Keep it over the end of a request, and ping it before use. There are as many connections as workers × " +
			"threads then, which must stay below max_connections.",
	},
	language.Ruby: {
		Text: "Keep a connection for each thread", Where: "where the connection is opened", Lang: "ruby",
		Code: "Thread.current[:db] ||= open_connection # as before", Risk: kasoku.RiskAppRestart,
		Note: "Nothing may close it at the end of a request. There are as many connections as workers × threads, which " +
			"must stay below max_connections. What a request leaves open, a transaction or a lock, the next one has; " +
			"after an error of the connection open it anew.",
	},
	language.JavaScript: {
		Text: "Keep connections in a pool", Where: "once, where the program starts", Lang: "javascript",
		Code: "const pool = mysql.createPool({ ...options, connectionLimit: 10 })", Risk: kasoku.RiskAppRestart,
		Note: "Here mysql is the driver as it is imported. Each process has a pool of its own: connectionLimit × processes " +
			"must stay below max_connections.",
	},
	language.Java: {
		Text: "Keep connections in a pool, as many idle ones as it may have", Where: "where the data source is made",
		Risk: kasoku.RiskAppRestart, Note: "Its size × processes must stay below max_connections.",
	},
	language.Rust: {
		Text: "Make one pool where the program starts, and share it", Where: "main, in the state of the program",
		Risk: kasoku.RiskAppRestart, Note: "Of all processes together its connections must stay below max_connections.",
	},
	language.Unknown: {
		Text:  "Open connections once and keep them, in a pool with as many idle ones as it may have open",
		Where: "where connections are opened", Risk: kasoku.RiskAppRestart,
		Note: "Of all processes together they must stay below max_connections.",
	},
}

func (IdlePool) evidence(c *diagnose.Case, p connections) []kasoku.Evidence {
	over := c.Focus.Interval
	out := []kasoku.Evidence{
		c.Quote().Counted(p.opened, true),
		c.Quote().Asked(p.requests),
		{Source: "status", Text: "opened and closed again, per request that got through",
			Value: unit.Sig3(p.perServed()), Number: p.perServed(), Strong: true, Interval: over},
	}
	if p.refused > 0 {
		out = append(out, kasoku.Evidence{
			Source: "status", Text: "accepted / refused", Value: diagnose.Whole(p.opened.By) + " / " +
				diagnose.Whole(p.refused),
			Number: p.refused, Series: []kasoku.Key{p.opened.Key}, Interval: over,
		})
	}
	out = append(out, kasoku.Evidence{
		Source: "status", Text: "connections open", Note: "most at once → at the end",
		Value: diagnose.Whole(p.most) + " → " + diagnose.Whole(p.open.Last), Number: p.most,
		Series: []kasoku.Key{p.open.Key}, Interval: over,
	})
	if g, err := c.Counters().Gauge(waitingSockets(c)); err == nil {
		out = append(out, kasoku.Evidence{
			Source: "socket", Text: "TIME_WAIT", Note: diagnose.Whole(g.First) + " → " + diagnose.Whole(g.Max),
			Value: diagnose.More(g.Max - g.First), Number: g.Max - g.First, Series: []kasoku.Key{g.Key}, Interval: over,
		})
	}
	return out
}

func (IdlePool) cause(c *diagnose.Case, p connections) string {
	why := language.Pick(c, whyReopened)
	if evidence.IsShared(c) {
		why = "Connections are opened, and closed after one use. Programs outside of the service use this server too, " +
			"and who opens them was not counted."
	}
	s := fmt.Sprintf("%s %s %s connections were opened for %s requests that got through, and at most %s were open "+
		"at once.", why, wording.Capital(c.At()),
		diagnose.Whole(p.opened.By), diagnose.Whole(p.served), diagnose.Whole(p.most))
	if p.refused > 0 {
		s += fmt.Sprintf(" %s more were refused.", diagnose.Whole(p.refused))
	}
	return s
}

// impact is the share of requests that failed for want of a connection. When
// none failed it is what is saved on the way to the server: a new connection
// takes three round trips, for TCP, greeting and login, where an idle one takes
// none.
func (IdlePool) impact(c *diagnose.Case, p connections) kasoku.Impact {
	lost := p.refused
	for _, s := range c.Lines().Said(isConnectionError) {
		lost += float64(s.Count)
	}
	if share := evidence.FailedShare(c, lost); p.refused > 0 && share > 0 {
		return kasoku.Impact{Share: share, Of: evidence.OfRequests(c), Shared: []string{"POOL-02"}}
	}
	const perConnection = 3
	trips := 0.0
	for _, name := range [...]string{mysql.Questions, mysql.ComStmtPrepare} {
		if g, err := c.Counters().Status(name); err == nil {
			trips += g.By
		}
	}
	return evidence.TripImpact(c, perConnection*p.reopened, trips)
}

// isConnectionError accepts lines that report a connection that broke. Error
// 1040 is counted by the server.
//
// Source: the texts of Go's net, MySQL's client errors 2006 and 2013.
func isConnectionError(m *kasoku.Message) bool {
	return m.Code != errTooMany && wording.ContainsFold(m.Sample,
		"invalid connection", "bad connection", "connection reset by peer", "broken pipe", "server has gone away",
		"lost connection")
}

func (IdlePool) fix(c *diagnose.Case, p pool) kasoku.Fix {
	if language.Of(c) != language.Go {
		return language.Pick(c, keepOpen)
	}
	if most := publishedLimit(c); most > 0 && (p.limit == 0 || most < p.limit) {
		return kasoku.Fix{Text: "Keep as many connections idle as the pool may open", Where: "where the pool is opened",
			Lang: "go", Code: fmt.Sprintf("db.SetMaxIdleConns(%.0f)\ndb.SetConnMaxIdleTime(5 * time.Minute)", most),
			Note: fmt.Sprintf("It may open %.0f (MaxOpenConnections). Where that changes, idle changes with it.", most),
			Risk: kasoku.RiskAppRestart}
	}
	f := kasoku.Fix{
		Text: "Cap the pool below max_connections and keep as many connections idle", Where: "where the pool is opened",
		Code: p.code(), Note: p.note(c.Server()), Risk: kasoku.RiskAppRestart,
	}
	if f.Code != "" {
		f.Lang = "go"
	}
	return f
}

const (
	idleByDefault = 2   // connections that database/sql keeps idle
	mostPublished = 1e5 // is more than any server takes
)

// publishedLimit is how many connections the only pool that a program publishes may open; 0 where it is not
// known, or the pool has no limit.
func publishedLimit(c *diagnose.Case) float64 {
	all := c.FindAll(evidence.SourceExpvar, expvar.MaxOpenConnections)
	if len(all) != 1 || len(all[0].Points) == 0 || len(c.Service.Of(kasoku.RoleApplication)) > 1 {
		return 0
	}
	most := all[0].Points[len(all[0].Points)-1].Value
	if most <= idleByDefault || most > mostPublished || most != math.Trunc(most) {
		return 0
	}
	return most
}
