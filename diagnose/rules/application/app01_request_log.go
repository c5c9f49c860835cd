package application

import (
	"errors"
	"fmt"
	"path"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/diagnose"
	"github.com/kasoku/kasoku/diagnose/internal/evidence"
	"github.com/kasoku/kasoku/diagnose/internal/language"
	"github.com/kasoku/kasoku/diagnose/internal/webserver"
	"github.com/kasoku/kasoku/diagnose/internal/wording"
	"github.com/kasoku/kasoku/internal/unit"
)

// RequestLog is the rule APP-01.
type RequestLog struct{}

// Thresholds of APP-01.
const (
	linesPerRequest    = 0.9
	logBytesPerRequest = 60
	// lineCost is an estimate of formatting a line and one write call.
	lineCost = 10 * time.Microsecond
)

// ID returns APP-01.
func (RequestLog) ID() string { return "APP-01" }

// Doc describes the rule.
func (RequestLog) Doc() diagnose.Doc {
	return diagnose.Doc{
		Summary: `finds an application that logs each request.`,
		Evidence: `the application's log has at least one line for each request, and at least 60 bytes,
			that report no error and hold no SQL; at least 100 of them. It is borne out when a process makes
			as many write calls.`,
		Cause: `each line is formatted and written with a call of its own, under one lock, and what it
			says stands in nginx's access log already.`,
		Fix:    `switch the request log off, or log only errors.`,
		Silent: `when few lines are logged; blind without the application's log or a count of requests.`,
	}
}

// requestLogSwitch is what logs each request, by framework, server and language.
var requestLogSwitch = map[string]string{
	language.Echo:     "In Echo: no middleware.Logger, and e.Logger.SetLevel(log.ERROR).",
	language.Go:       "Remove the log.Printf or fmt.Println of each request, and the debug switch.",
	language.Rails:    "In Rails: config.log_level = :warn.",
	language.Puma:     "In Puma: no log_requests; of Rack: no Rack::CommonLogger.",
	language.Unicorn:  "Of Rack: no Rack::CommonLogger.",
	language.Django:   "In Django: LOGGING with the level WARNING.",
	language.Gunicorn: "In gunicorn: no access log (--access-logfile).",
	language.Uvicorn:  "In uvicorn: --no-access-log.",
	language.PHPFPM:   "In PHP-FPM: no access.log in the pool; in the program: the log's level at warning.",
	language.Spring:   "In Spring: no server.tomcat.accesslog, and logging.level.root=WARN.",
	language.Axum:     "No TraceLayer of tower-http; RUST_LOG=warn.",
	language.ActixWeb: "No Logger of actix-web; RUST_LOG=warn.",
	language.Unknown:  "It is the access log of the program or its server, or its logger's level.",
}

// Check looks for a line for each request.
func (r RequestLog) Check(c *diagnose.Case) ([]kasoku.Finding, []kasoku.Silence) {
	if !c.Lines().HasAppLog() {
		return nil, diagnose.Blind(r.ID(), errors.New(c.Lines().NoLog("applog")))
	}
	whole := *c
	whole.Focus = diagnose.Focus{Interval: c.Whole()}
	n, err := whole.Requests(c.Whole())
	if err != nil {
		return nil, diagnose.Blind(r.ID(), err)
	}
	var lines, bytes uint64
	var most diagnose.Said
	for _, m := range whole.Lines().Said(func(m *kasoku.Message) bool { return !m.SQL && !diagnose.IsError(m) }) {
		if lines == 0 {
			most = m
		}
		lines += m.Count
		bytes += uint64(float64(m.Bytes) * float64(m.Count) / float64(max(m.Message.Count, m.Count)))
	}
	perRequest := webserver.Ratio(float64(lines), float64(n.Count))
	bytesPer := webserver.Ratio(float64(bytes), float64(n.Count))
	if lines < evidence.FewSQLLines || perRequest < linesPerRequest || bytesPer < logBytesPerRequest {
		return nil, diagnose.Quiet(r.ID(), min(perRequest/linesPerRequest, bytesPer/logBytesPerRequest,
			float64(lines)/evidence.FewSQLLines),
			"the application logged %s lines and %s bytes for each request beside errors and SQL; the thresholds are "+
				"%s and %d", unit.Sig3(perRequest), diagnose.Whole(bytesPer), unit.Plain(linesPerRequest),
			logBytesPerRequest)
	}
	writes := evidence.LogWriter(&whole)
	called := diagnose.Signal{Holds: writes.By >= evidence.WritesPerLine*float64(lines),
		Lacks: "no process makes as many write calls"}
	if writes.Key.Name == "" {
		called.Blind = "write calls of processes were not recorded"
	}
	impact := webserver.SavedTime(c, time.Duration(lines)*lineCost, true)
	f := kasoku.Finding{
		ID: r.ID(), Object: kasoku.Object{Kind: "log", Name: path.Base(most.Path)},
		Title: "The application logs every request", Severity: evidence.SeverityOf(impact.Share),
		Confidence: diagnose.Confidence(diagnose.Signal{Holds: true}, diagnose.Signal{Holds: true}, called),
		Impact:     impact,
		Evidence: []kasoku.Evidence{c.Quote().Quoted(most, true),
			{Source: "app.log", Text: "lines per request", Note: unit.Count(lines) + " lines",
				Value: unit.Sig3(perRequest), Number: perRequest, Strong: true, Interval: c.Whole()},
			{Source: "app.log", Text: "bytes per request", Value: diagnose.Whole(bytesPer), Number: bytesPer,
				Strong: true, Interval: c.Whole()},
		},
		Cause: fmt.Sprintf("The application wrote %s lines, %s, for %s requests. Each is formatted and written under "+
			"one lock, and the web server's access log says the same.",
			unit.Count(lines), unit.Bytes(bytes), unit.Count(n.Count)),
		Fixes: []kasoku.Fix{{Text: "Switch the request log of the application off under load",
			Where: "where the logger is set up", Risk: kasoku.RiskAppRestart,
			Note: language.Pick(c, requestLogSwitch) + " Errors stay logged."}},
		Expect: "no line for each request, and fewer write calls",
		Verify: "repeat the load with the same rate and compare CPU and latency", Interval: c.Whole(),
	}
	if writes.Key.Name != "" {
		e := whole.Quote().Counted(writes, false)
		e.Text = "write calls of " + wording.Process(writes.Key.Instance)
		f.Evidence = append(f.Evidence, e)
	}
	return []kasoku.Finding{f}, nil
}
