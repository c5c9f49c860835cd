package bounds

import (
	"bytes"
	"context"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/checkpoint/capture"
	"github.com/kasoku/kasoku/compat/alp"
	"github.com/kasoku/kasoku/compat/exact"
	"github.com/kasoku/kasoku/compat/kataribe"
	"github.com/kasoku/kasoku/compat/ptquerydigest"
	"github.com/kasoku/kasoku/config"
	"github.com/kasoku/kasoku/diagnose"
	"github.com/kasoku/kasoku/diagnose/indexes"
	"github.com/kasoku/kasoku/diagnose/probe"
	"github.com/kasoku/kasoku/internal/histogram"
	"github.com/kasoku/kasoku/internal/mounts"
	"github.com/kasoku/kasoku/internal/nginxconf"
	"github.com/kasoku/kasoku/internal/secret"
	"github.com/kasoku/kasoku/internal/unit"
	"github.com/kasoku/kasoku/load"
	"github.com/kasoku/kasoku/load/http1"
	"github.com/kasoku/kasoku/load/vegeta"
	"github.com/kasoku/kasoku/logs"
	"github.com/kasoku/kasoku/logs/accessformat"
	"github.com/kasoku/kasoku/logs/accesslog"
	"github.com/kasoku/kasoku/logs/applog"
	"github.com/kasoku/kasoku/logs/join"
	"github.com/kasoku/kasoku/logs/lines"
	"github.com/kasoku/kasoku/logs/patterns"
	"github.com/kasoku/kasoku/logs/phases"
	"github.com/kasoku/kasoku/logs/routes"
	"github.com/kasoku/kasoku/logs/score"
	"github.com/kasoku/kasoku/logs/slowlog"
	"github.com/kasoku/kasoku/logs/sqlshape"
	"github.com/kasoku/kasoku/mysql"
	"github.com/kasoku/kasoku/mysql/explain"
	"github.com/kasoku/kasoku/mysqlflags"
	"github.com/kasoku/kasoku/observe/expvar"
	graphitesource "github.com/kasoku/kasoku/observe/graphite"
	"github.com/kasoku/kasoku/observe/nginx"
	"github.com/kasoku/kasoku/observe/profile"
	"github.com/kasoku/kasoku/observe/varnish"
	goldenanswers "github.com/kasoku/kasoku/prove/answers"
	"github.com/kasoku/kasoku/report/encode"
	"github.com/kasoku/kasoku/report/terminal"
	"github.com/kasoku/kasoku/trace"
	"github.com/kasoku/kasoku/trace/protocol"
	"github.com/kasoku/kasoku/wire/graphite"
	"github.com/kasoku/kasoku/wire/prometheus"
)

// A row is a parser and what it is fed.
type row struct {
	name   string
	covers []string // exported parsers, as the survey names them
	start  string   // what stands before the repeated piece, so that it is reached
	pieces []string // of the grammar, repeated; %d is replaced by the number of the piece
	end    string
	read   func(in []byte)
	copies int // in how many places the parser is fed the same, its pieces alone; 0: one, all pieces
}

// window returns a parser of lines as one of bytes.
func window(read func(w *lines.Window)) func(in []byte) {
	return func(in []byte) { read(lines.NewReader(bytes.NewReader(in), 0)) }
}

// text returns a parser of a string as one of bytes.
func text(read func(s string)) func(in []byte) {
	return func(in []byte) { read(string(in)) }
}

func collectAccess(o accesslog.Options) func(in []byte) {
	return window(func(w *lines.Window) {
		t, _, err := accesslog.Collect(w, o)
		if err == nil {
			t.Endpoints()
			t.Rows()
			t.Slowest()
		}
	})
}

func formatOf(spec string) *accessformat.Format {
	f, err := accessformat.ParseFormat(spec)
	if err != nil {
		panic(err)
	}
	return f
}

func collectSlow(in []byte) {
	window(func(w *lines.Window) {
		t, _, err := slowlog.Collect(w, slowlog.Options{KeepRaw: true, Attributes: true})
		if err == nil {
			t.Queries()
			t.Classes()
			t.Saves()
			t.Transactions()
		}
	})(in)
}

const (
	ltsvLine     = "time:2026-01-02T03:04:05Z\tmethod:GET\turi:/a/%d\tstatus:200\tsize:3\treqtime:0.001\n"
	jsonLine     = `{"time":"2026-01-02T03:04:05Z","method":"GET","uri":"/a/%d","status":200,"body_bytes":3,"response_time":0.001}` + "\n"
	combinedLine = `10.0.0.1 - - [02/Jan/2026:03:04:05 +0000] "GET /a/%d HTTP/1.1" 200 3 "-" "-" 0.001` + "\n"
	slowHead     = "# Time: 2026-01-02T03:04:05.000000Z\n# User@Host: a[a] @ h [1.2.3.4]  Id: 5\n# Query_time: 1 Lock_time: 0 Rows_sent: 1 Rows_examined: 1\n"
	pgCSV        = "2026-01-02 03:04:05,a,b,1,\"select %d\"\n"
)

// sqlPieces are pieces of statements.
var sqlPieces = []string{
	"a,", "(", ")", "'", "`", "\"", "/*", "*/", "-- ", "--\n", "#", "(1,'a'),", "select ", "a=1 and ", "in (1,2) ", "'\\'", "1.", "0x", "?", "a%d,", "or (a=%d) ", "select (",
	"case when ", "a.b.c.", "join t%d on ", ";", "@a:=", "insert into t values (1),", "union select 1 ", "/*a='b'*/", "with x as (", "interval 1 ", "not ", "- ", "t t, ",
}

var rows = slices.Concat(logRows(), sqlRows(), wireRows(), otherRows(), runFileRows())

func logRows() []row {
	access := []string{"\n", ltsvLine, jsonLine, combinedLine, "uri:/a\t", "a%d:b\t", "\"", "[", "{\"a\":", "{\"a\":1,", "\\u00", "GET /%d/x?y=z HTTP/1.1"}
	return []row{
		{
			name: "access log, found", pieces: access, read: collectAccess(accesslog.Options{Detail: true}),
			covers: []string{"logs/accessformat NewReader", "logs/accessformat NewReaderOf", "logs/accessformat Reader.Scan", "logs/accessformat Parser.Parse",
				"logs/accessformat Format.Parser", "logs/accesslog Table.Parser", "logs/lines NewReader", "logs/lines Window.Scan"},
		},
		{
			name: "table of an access log", start: "\x01", pieces: []string{"\x00", "\x01", "\x05\x00", "\x02ab\x01\x01", "\xff\x01"},
			read:   func(in []byte) { _, _ = accesslog.Read(accesslog.Options{Slowest: 1000}, in, 0) },
			covers: []string{"logs/accesslog Read", "logs NewReader"},
		},
		{
			name: "table of a slow log", start: "\x01", pieces: []string{"\x00", "\x01", "\x05\x00", "\x02ab\x01\x01", "\xff\x01"},
			read:   func(in []byte) { _, _ = slowlog.Read(slowlog.Options{}, in, 0) },
			covers: []string{"logs/slowlog Read"},
		},
		{
			name: "what was read of logs", start: "\x13", pieces: []string{"\x00", "\x09accesslog", "\x02ab\x01\x01", "\xff\x01"},
			read: func(in []byte) {
				for r := logs.NewPartReader(bytes.NewReader(in)); ; {
					if _, err := r.Next(); err != nil {
						return
					}
				}
			},
			covers: []string{"logs NewPartReader"},
		},
		{name: "access log, LTSV", start: ltsvLine, pieces: access, read: collectAccess(accesslog.Options{Detail: true})},
		{name: "access log, JSON", start: jsonLine, pieces: access, read: collectAccess(accesslog.Options{Detail: true})},
		{name: "access log, combined", start: combinedLine, pieces: access, read: collectAccess(accesslog.Options{Detail: true})},
		{name: "access log, log_format", pieces: access, read: collectAccess(accesslog.Options{Format: formatOf(`$remote_addr "$request" $status $request_time "$http_x"`)})},
		{name: "access log, format", covers: []string{"logs/accessformat ParseFormat"}, pieces: []string{"$a", "$status ", "${", "%{a}i", "%", "\\", "'$status'\n", "(?P<a>", ".*"},
			read: text(func(s string) { _, _ = accessformat.ParseFormat(s) })},
		{name: "access log, sample", covers: []string{"logs/accessformat Detect"}, pieces: access, read: func(in []byte) { _, _ = accessformat.Detect(in) }},
		{name: "access log, first lines", covers: []string{"logs/accessformat DetectInput"}, pieces: access, read: func(in []byte) {
			_, _ = accessformat.DetectInput(context.Background(), &lines.Input{R: bytes.NewReader(in)})
		}},
		{name: "alp ltsv", pieces: access, read: program(alp.Run, "ltsv", "-q", "--decode-uri")},
		{name: "alp json", pieces: access, read: program(alp.Run, "json")},
		{name: "alp regexp", pieces: access, read: program(alp.Run, "regexp")},
		{name: "kataribe", pieces: access, read: program(kataribe.Run)},
		{name: "numbers of peers", covers: []string{"compat/exact Parse"}, pieces: []string{"1", "0.", "e", "_"}, read: func(in []byte) { exact.Parse(in, 1) }},
		{name: "probe", covers: []string{"diagnose/probe Sampler.Read"}, pieces: access, read: window(func(w *lines.Window) { _ = probe.NewSampler().Read(w, 1<<30) })},
		{name: "application log", covers: []string{"logs/applog Read"}, read: window(func(w *lines.Window) { _, _ = applog.Read(w, applog.Options{}) }),
			pieces: []string{"2026/01/02 03:04:05 error %d: a\n", "{\"msg\":\"", "panic: x\ngoroutine 1 [running]:\n", "\tat a.b(C.java:%d)\n", "[1ms] SELECT '%d'\n", "level=info msg=a%d\n", "level=info msg=\"", "a: ", "(", "0x1f", "'", "[2.0ms] "}},
		{name: "score", covers: []string{"logs/score Read"}, read: func(in []byte) { _, _ = score.Read(in, score.Pattern{}, score.Pattern{}) },
			pieces: []string{"score: %d\n", "{\"score\":", "{\"score\":%d}\n", "score", "{", "[{", "\"", "1,234 ", "\x1b[", "fail ", "12 345"}},
		{name: "benchmark's words", covers: []string{"logs/score ReadWords"}, read: func(in []byte) {
			score.ReadWords(in, func(offset int64) time.Duration { return time.Duration(offset) })
		}, pieces: []string{"error %d: a\n", "{\"pass\":true,\"score\":1,\"messages\":[\"a%d\"]}\n", "{\"messages\":[", "\"", "http://a/b ", "\x1b[",
			"load level: %d\n", "減点: 1\n", "Error Set:\n", "Error distribution:\n", "  [3]\ta\n", "    ✗ a\n", "      ↳  1% — ✓ 1 / ✗ 8\n",
			"  Non-2xx or 3xx responses: 5\n", "Status Codes  [code:count]  0:3 ", "0:3 ", "a: timeout ", "\n"}},
		{name: "score by a path", read: func(in []byte) { _, _ = score.Read(in, score.Pattern{JSON: "a.score"}, score.Pattern{JSON: "pass"}) },
			pieces: []string{"{", "{\"a\":{", "{\"a\":{\"score\":1}}\n", "{\"score\":", "[{", "\"", "{}", "{\"a\":["}},
		{name: "routes", pieces: []string{"/a", "/%d", "/%41", "//", ";a", ",1", "?a=1&", "eyJ.", "/0x1f", "..", "/{a}"}, read: func(in []byte) {
			m := routes.Automatic().Mapper()
			m.Append(nil, []byte("GET"), in)
		}},
		{name: "many routes", pieces: []string{"/a/%d/b%d\n", "/a%d\n", "/%d/%d/%d/%d\n"}, read: func(in []byte) {
			m := routes.Automatic().Mapper()
			for line := range bytes.Lines(in) {
				m.Append(nil, []byte("GET"), line)
			}
		}},
		{name: "patterns", pieces: []string{"a", "ab", "/a/1", "\n", "é"}, read: patternsOf(`(a|b)*c`, `^/a/[0-9]+$`, `\bx.*y$`)},
	}
}

// patternsOf matches a text against expressions.
func patternsOf(exprs ...string) func(in []byte) {
	set, err := patterns.Compile(exprs)
	if err != nil {
		panic(err)
	}
	finders := make([]*patterns.Finder, len(exprs))
	for i, expr := range exprs {
		if finders[i], err = patterns.CompileFinder(expr); err != nil {
			panic(err)
		}
	}
	return func(in []byte) {
		set.Matcher().First(in)
		for _, f := range finders {
			f.Find(nil, in)
		}
	}
}

// program runs a peer's program on its standard input.
func program(run func(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int, args ...string) func(in []byte) {
	return func(in []byte) { run(context.Background(), args, bytes.NewReader(in), io.Discard, io.Discard) }
}

func sqlRows() []row {
	var out []row
	for _, r := range []row{
		{name: "fingerprint", read: func(in []byte) {
			var s sqlshape.Shaper
			s.Fingerprint(in)
			s.Sketch(in)
		}},
		{name: "shape", read: func(in []byte) {
			sqlshape.AppendMasked(nil, in, 1000)
			sqlshape.AppendTag(nil, in)
			sqlshape.Equalities(in, func(_, _ []byte) bool { return true })
			sqlshape.Values(in, func(_, _ []byte) bool { return true })
			sqlshape.Numbers(in)
			sqlshape.Tables(in)
			sqlshape.Unclosed(in)
			sqlshape.Verb(in)
		}},
		{name: "literals", read: func(in []byte) {
			join.Literals(nil, in)
			join.LiteralsOfURI(nil, in)
			join.InfoOf(in)
		}},
		{name: "explainable", read: text(func(s string) { explain.AsSelect(s) })},
		{name: "plan", read: text(func(s string) { explain.Mask(&kasoku.Plan{Format: "json", Text: s}) })},
		{name: "slow log, statement", start: slowHead, end: ";\n", read: collectSlow},
		{name: "pt-query-digest, statement", start: slowHead, end: ";\n", read: program(ptquerydigest.Run, "-")},
		{name: "index advice", read: text(func(s string) {
			q := kasoku.Query{ID: "A", Verb: "SELECT", Fingerprint: s, Sample: s, Tables: []string{"t"}, Calls: 100, Total: time.Second, RowsExamined: 1 << 20}
			_, _ = indexes.Propose(&kasoku.Recording{Queries: []kasoku.Query{q}, Tables: []kasoku.TableDef{{Name: "t", Create: "CREATE TABLE t (a int)", Rows: 1000}}})
		})},
		{name: "keys of a table", covers: []string{"mysql ParseKeys"}, start: "CREATE TABLE a (\n", end: "\n)", read: text(func(s string) { mysql.ParseKeys(s) })},
	} {
		r.pieces = append([]string{"  KEY `a%d` (`b`),\n", "  KEY `a` (`b`(", "UPDATE a SET b = 1 WHERE ", "DELETE "}, sqlPieces...)
		out = append(out, r)
	}
	entry := slowHead + "select %d;\n"
	return append(out,
		row{name: "slow log", read: collectSlow, pieces: []string{
			entry, "# Time: 2026-01-02T03:04:05.000000Z\n", "# Query_time: ", "# A: %d ", "use a%d;\n", "SET timestamp=1;\n", "# administrator command: Quit;\n",
			"Tcp port: 3306  Unix socket: (null)\n", "select 1;\n", slowHead, "2026-01-02T03:04:05.000000Z\t%d Query\tselect 1\n", "# explain: %d\n", "/*!", "2026-01-02 03:04:05,a,b,1,\"select %d\"\n", ",\"", "1,\"a\",", "a\n",
		}},
		row{name: "slow log, entry", start: slowHead, read: collectSlow, pieces: []string{"# Time: 2026-01-02T03:04:05.000000Z\n", "# A_%d: 1\n", "\n", "select\n", ";\n", "# ", "a%d: b "}},
		row{name: "pt-query-digest", read: program(ptquerydigest.Run, "-"), pieces: []string{entry, "select %d;\n", slowHead, "use a;\n", "\n", "# A: b\n"}},
		row{name: "deadlock", covers: []string{"mysql ParseDeadlock"}, read: text(func(s string) { mysql.ParseDeadlock(s) }),
			start: "LATEST DETECTED DEADLOCK\n------------------------\n", pieces: []string{"*** (%d) TRANSACTION:\n", "TRANSACTION %d, ACTIVE 1 sec\nselect 1\n", "select 1\n", "***", "------------\n", "RECORD LOCKS "}},
		row{name: "version", covers: []string{"mysql ParseVersion"}, read: text(func(s string) { mysql.ParseVersion(s) }), pieces: []string{"1.", "1", "-MariaDB", "."}},
	)
}

func wireRows() []row {
	decode := func(in []byte) {
		d, err := vegeta.NewDecoder(bytes.NewReader(in), "f")
		if err != nil {
			return
		}
		var r vegeta.Result
		for d.Decode(&r) == nil {
		}
	}
	targets := func(format string) func(in []byte) {
		return func(in []byte) { _, _ = vegeta.ReadTargets(bytes.NewReader(in), vegeta.TargetOptions{Format: format}) }
	}
	result := `{"attack":"","seq":%d,"code":200,"timestamp":"2026-01-02T03:04:05Z","latency":1,"bytes_out":0,"bytes_in":1,"error":"","body":null,"method":"GET","url":"http://h/","headers":null}` + "\n"
	csv := "1762000000000000000,200,1000,0,1,,,,0,GET,http://h/,\n"
	return []row{
		{name: "Vegeta's targets, HTTP", covers: []string{"load/vegeta ReadTargets"}, read: targets(vegeta.HTTPTargets),
			pieces: []string{"GET http://h/%d\n", "GET http://h/\nA%d: b\n\n", "# weight: 2\n", "#\n", "A: b\n", "GET http://h/{{int 1 2}}\n", "{{", "GET "}},
		{name: "Vegeta's targets, one", start: "GET http://h/\n", read: targets(vegeta.HTTPTargets), pieces: []string{"A%d: b\n", "A: b\n", "# a\n", "A: {{seq}}\n", "A: "}},
		{name: "Vegeta's targets, JSON", read: targets(vegeta.JSONTargets), pieces: []string{`{"method":"GET","url":"http://h/%d"}` + "\n", "{", "[", `{"method":"GET","url":"http://h/`, `{"header":{"a":["`, "\n"}},
		{name: "Vegeta's results", covers: []string{"load/vegeta Decoder.Decode", "load/vegeta RoundRobin.Decode", "load/vegeta newlines.Read", "load/vegeta boundedLines.Read", "load/vegeta source.Read"},
			read: decode, pieces: []string{result, csv, "1,", "\"", "1,\"", "\n", "{", "[", "\x03\xff\x82\x00", "\x7f\xff\x81\x03\x01"}},
		{name: "Vegeta's results, JSON", start: strings.ReplaceAll(result, "%d", "1"), read: decode, pieces: []string{result, "{\"body\":\"", "{\"headers\":{\"A%d\":[\"b\"]", "A", "\\u00", "[", "{"}},
		{name: "Vegeta's results, CSV", start: csv, read: decode, pieces: []string{csv, "1,", "\"", "\"\"", "\"\n", "A: b\r\n", "YQ==", "\n"}},
		{name: "histogram buckets", covers: []string{"load/vegeta ParseBuckets"}, start: "[", pieces: []string{"1ms,", ",", "%dms,", "[", " "}, read: text(func(s string) { _, _ = vegeta.ParseBuckets(s) })},
		{name: "table", covers: []string{"load ReadTable"}, start: "a,b\n", read: func(in []byte) { _, _ = load.ReadTable(bytes.NewReader(in), "t") }, pieces: []string{"1,2\n", "\"", "a,", "\"\n\"", ",", "\r"}},
		{name: "table, names", read: func(in []byte) { _, _ = load.ReadTable(bytes.NewReader(in), "t") }, pieces: []string{"a%d,", "a,", "\"", ","}},
		{name: "places", read: text(func(s string) { _, _ = load.NewFill(load.FillOptions{URL: "http://h/", Body: []byte(s)}) }), pieces: []string{"{{", "{{seq}}", "{{int 1 2}}", "{{pick a|", "|", "}}", "{"}},
		{name: "schedule", covers: []string{"load ParseStages", "load ParsePacing", "load ParseSpacing", "load ParseThink"}, pieces: []string{"1s:1,", "10,", "1s", ":", "-", "1", "a"}, read: text(func(s string) {
			_, _ = load.ParseStages(s)
			_, _ = load.ParsePacing(s)
			_, _ = load.ParseSpacing(s)
			_, _, _ = load.ParseThink(s)
		})},
		{name: "HTTP answers", covers: []string{"load/http1 thenFails.Read"}, read: answers, pieces: []string{"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", "A", "A: b\r\n", "HTTP/1.1 100 Continue\r\n\r\n", "\r\n"}},
		{name: "HTTP header", start: "HTTP/1.1 200 OK\r\n", read: answers, pieces: []string{"A: b\r\n", "A%d: b\r\n", "A", " b\r\n", "A: ", "Set-Cookie: a%d=b\r\n"}},
		{name: "HTTP chunks", start: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", read: answers, pieces: []string{"1\r\na\r\n", "0", "1;a=b\r\nx\r\n", "1;", "\r\n", "0\r\nA: b\r\n"}},
		{name: "Graphite's answers", covers: []string{"wire/graphite ParseRender"}, start: `[`, read: func(in []byte) { _, _ = graphite.ParseRender(in) },
			pieces: []string{`{"target":"a%d","datapoints":[[1,2]]},`, `{"target":"a","datapoints":[`, "[1,2],", "[", "{", "\""}},
		{name: "Graphite's words", read: text(func(s string) {
			graphite.Path(s, s)
			p := graphite.Point{Path: s, Time: 1, Value: 1}
			graphite.AppendLine(nil, p)
			graphite.AppendPickle(nil, []graphite.Point{p})
		}), pieces: []string{"a", ".", " ", "é", "\x00"}},
		{name: "carbon's pickles", covers: []string{"observe/graphite ParseAnswer"}, start: "\x80\x02", read: func(in []byte) { _, _ = graphitesource.ParseAnswer(in) },
			pieces: []string{"(", "]", "}", "(l", "a", "q\x00", "h\x00", "U\x01a", "J\x01\x00\x00\x00", "\x85", "e", "0", "2", "]q\x00"}},
		{name: "Prometheus's text", read: text(func(s string) {
			e := prometheus.NewEncoder(prometheus.OpenMetrics)
			e.Counter(prometheus.Name(s), s)
			e.Count([]prometheus.Label{{Name: "a", Value: s}}, 1)
			prometheus.Negotiate(s)
		}), pieces: []string{"a", "\"", "\\", "\n", ",", ";q=0.", "text/plain,", "\xff"}},
		{name: "traced HTTP", covers: []string{"trace/protocol ReadHead"},
			pieces: []string{"GET /%d HTTP/1.1\r\n\r\n", "GET /",
				"POST /a HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n",
				"1\r\na\r\n", "\r\n", "a: b\r\n"}, read: func(in []byte) {
				protocol.ReadHead(in)
				new(protocol.HTTP).Feed(in, len(in)+10, func(trace.Request) {})
			}},
		{name: "traced FastCGI", start: "\x01\x01\x00\x01\x00\x08\x00\x00\x00\x01\x00\x00\x00\x00\x00\x00",
			pieces: []string{"\x01\x04\x00\x01\x00\x04\x00\x00\x01\x01ab",
				"\x01\x04\x00\x01\x00\x00\x00\x00", "\x01\x05\x00\x01\xff\xff\xff\x00", "\x01"}, read: func(in []byte) {
				new(protocol.FastCGI).Feed(in, len(in)+10, func(trace.Request) {})
			}},
		{name: "traced MySQL", covers: []string{"trace/protocol ReadReply"},
			pieces: []string{"\x09\x00\x00\x00\x03SELECT 1", "\x05\x00\x00\x00\x17\x01\x00\x00\x00",
				"\x00\x00\x00\x00", "\xff"}, read: func(in []byte) {
				protocol.Commands(in, func(c protocol.Command) { protocol.QueryText(c.Text) })
				_, _ = protocol.ReadReply(in, true)
			}},
		{name: "expvar", covers: []string{"observe/expvar Parse"}, start: "{", read: func(in []byte) { _, _ = expvar.Parse(in) }, pieces: []string{`"a%d":1,`, `"a":{`, `"memstats":{`, "[", "\"", `"a":[1,`}},
		{name: "stub_status", covers: []string{"observe/nginx Parse"}, read: func(in []byte) { _, _ = nginx.Parse(in) }, pieces: []string{"Active connections: %d\n", "1 ", "Reading: ", "\n", "server accepts handled requests\n"}},
		{name: "varnishstat", covers: []string{"observe/varnish Parse"}, start: "{", read: func(in []byte) { _, _ = varnish.Parse(in) },
			pieces: []string{`"MAIN.a%d":{"value":1},`, `"counters":{`, `{`, `"a":`}},
		{name: "pprof", covers: []string{"observe/profile Decode"}, read: func(in []byte) { _, _ = profile.Decode(in) }, pieces: []string{"\x0a\x02\x08\x01", "\x12\x00", "\x32\x01a", "\x1a\x00", "\x22\x02\x08\x01", "\x12\x02\x0a\x01", "\x08\x01", "\xff"}},
		{name: "histogram", covers: []string{"internal/histogram Histogram.UnmarshalBinary"}, read: func(in []byte) { _ = new(histogram.Histogram).UnmarshalBinary(in) }, pieces: []string{"\x01", "\x00", "\xff", "\x01\x02", "\x80"}},
		{name: "histograms by second", covers: []string{"internal/histogram BySecond.UnmarshalBinary"},
			read: func(in []byte) { _ = new(histogram.BySecond).UnmarshalBinary(in) }, pieces: []string{"\x01", "\x00", "\xff", "\x02\x01\x02", "\x80"}},
	}
}

// answers feeds bytes to a parser of answers, ever anew.
func answers(in []byte) {
	p := &http1.Parser{}
	p.Start(false)
	for len(in) > 0 {
		n, done, err := p.Feed(in[:min(len(in), 4096)])
		if err != nil || n == 0 {
			return
		}
		if in = in[n:]; done {
			p.Start(false)
		}
	}
	_, _ = p.EOF()
}

// goldenHead is a golden file as far as the body of its first answer.
const goldenHead = `{"schema":1,"kind":"answers","recorded":"2026-11-22T12:00:00Z","answers":[{"endpoint":"GET /","method":"GET","url":"http://h/","status":200,"type":"","form":"json",`

func readGolden(in []byte) {
	_, _ = goldenanswers.Parse(in)
	_, _ = goldenanswers.ParseRequest(string(in))
}

func otherRows() []row {
	kinds := []string{capture.KindFile, capture.KindNginx, capture.KindMySQL, capture.KindVCL, capture.KindUnit, capture.KindSchema, capture.KindGit}
	secrets := []string{"a:b@", "password=", "password: \"", "token=a&", "://", "identified by '", "cookie: ", "-----BEGIN A-----\n", "[client]\n", "auth_basic \"", "\\", "--password ", "-pa ", "set $a%d b;\n", "\"password\" : \""}
	out := []row{
		{name: "secrets", pieces: secrets, read: func(in []byte) { secret.Append(nil, in) }},
		{name: "command lines", pieces: append([]string{"'", "\"", " -p", "--password=a ", "PGPASSWORD=a ", "$("}, secrets...), read: text(func(s string) { secret.MaskCommandLine(s) })},
		{name: "golden answers", covers: []string{"prove/answers Parse", "prove/answers ParseRequest"}, read: readGolden,
			start: `{"schema":1,"kind":"answers","recorded":"2026-11-22T12:00:00Z","answers":[`, end: "]}",
			pieces: []string{`{"endpoint":"GET /%d","method":"GET","url":"http://h/%d","status":200,"type":"","form":"json","body":{"a":[1]}},`, `{"endpoint":"`, `{"volatile":[{"path":"a.`, "{", "[", "\""}},
		{name: "golden answers, body", start: goldenHead + `"body":[`, end: `1]}]}`, read: readGolden, pieces: []string{"1,", `{"id":%d},`, `{"a%d":1},`, `"x",`, "[", `{"a":`}},
		{name: "golden answers, path", start: goldenHead + `"body":1,"volatile":[{"path":"`, end: `","what":"value"}]}]}`, read: readGolden, pieces: []string{"[]", "a.", "a", `\"`, `\\`, "."}},
		{name: "golden answers, log", covers: []string{"prove/answers ReadAccessLog"}, pieces: []string{ltsvLine, jsonLine, combinedLine, "\n"}, read: window(func(w *lines.Window) { _, _ = goldenanswers.ReadAccessLog(w, "http://h", 3, 1<<30) })},
		{name: "nginx.conf", covers: []string{"internal/nginxconf Parse"}, read: text(func(s string) { _, _ = nginxconf.Parse(s, "nginx.conf") }),
			pieces: []string{"a b;\n", "http {", "server { a b; }\n", "{", "}", "\"", "'", "#\n", "a ", ";", "\\", "$", "a_by_lua_block {", "${", "location /%d { }\n",
				"a;", "server{}", "server{"}},
		{name: "nginx.conf, lua", start: "content_by_lua_block {", read: text(func(s string) { _, _ = nginxconf.Parse(s, "nginx.conf") }), pieces: []string{"{", "[[", "--", "--[[", "\"", "[=", "}", "\n"}},
		{name: "nginx.conf, edit", start: "http {\n", end: "}\n", read: text(func(s string) { _, _ = nginxconf.Edit(s, "http", "gzip on;\n") }), pieces: []string{"a b;\n", "gzip off;\n", "server { a b; }\n", "# a\n"}},
		{name: "kasoku.toml", covers: []string{"config Parse"}, read: func(in []byte) { _, _ = config.Parse(in, "kasoku.toml") },
			pieces: []string{"a%d = 1\n", "[a%d]\n", "[[a]]\n", "a = [", "a = {", "\"", "'''", "a.", "# x\n", "[load]\nfor = '1s'\n", "a = 1\n", "\n"}},
		{name: "kasoku.toml, list", start: "[logs]\naccess = [", end: "]\n", read: func(in []byte) { _, _ = config.Parse(in, "kasoku.toml") }, pieces: []string{"'a%d',", "'a', ", "[", "\n", "{a = 1},"}},
		{name: "index statements", covers: []string{"mysql ParseIndex"}, start: "CREATE INDEX i ON t (", end: ")", read: text(func(s string) {
			_, _ = mysql.ParseIndex(s)
			sqlshape.PlainText([]byte("SELECT " + s))
		}), pieces: []string{"a,", "(", ")", "a(", "'", "`", "/*", "/*!", "\\", "1.", "a%d DESC,", ";"}},
		{name: "mount tables", covers: []string{"internal/mounts Parse"}, read: func(in []byte) { _, _ = mounts.Parse(bytes.NewReader(in)) },
			pieces: []string{"36 35 98:0 /a%d /b%d rw - ext4 a rw\n", "1 1 1:1 /a /b rw\n", "1 1 1:1 \\040", "\\0", "/"}},
		{name: "option files", covers: []string{"mysqlflags ParseOptions"}, read: func(in []byte) { mysqlflags.ParseOptions(in) }, pieces: []string{"[client]\n", "a%d=b\n", "a=\"", "\\", "a=", "!include a\n", "#", "[", "a"}},
		{name: "requests of phases", covers: []string{"logs/phases ParseRequest"}, read: text(func(s string) { _, _ = phases.ParseRequest(s) }), pieces: []string{"GET /", "/a", " ", "*", "POST ", "%41"}},
		{name: "facts of a probe", covers: []string{"diagnose ParseProbe"}, read: text(func(s string) { diagnose.ParseProbe(diagnose.AtStart, s) }), pieces: []string{"a%d=b\n", "a: b\n", "=", "\n", "a=\""}},
		{name: "folded stacks", covers: []string{"observe/profile ReadFolded"}, read: text(func(s string) { _, _ = profile.ReadFolded(s, kasoku.ProfileCPU, "nanoseconds") }), pieces: []string{"a;b 1\n", "a%d;b 1\n", "a;", ";", "1 "}},
		{name: "digests", covers: []string{"report/encode ReadDigests"}, read: func(in []byte) { _, _, _, _ = encode.ReadDigests(bytes.NewReader(in)) }, start: `{"kind":"digests","classes":[`,
			pieces: []string{`{"id":"x%d","calls":1,"total_s":1,"buckets":[[1,2,3]]},`, `{"id":"`, "{", "[", "[1,2,3],"}},
		{name: "units", covers: []string{"internal/unit ParseRate", "internal/unit ParseDuration", "internal/unit ParseSize", "internal/unit ParseLeast", "internal/unit ParseCores"}, pieces: []string{"1", "1s", "ms", " ", ".", "/s", "k", "0", "0-9,"}, read: text(func(s string) {
			_, _ = unit.ParseRate(s)
			_, _ = unit.ParseDuration(s)
			_, _ = unit.ParseSize(s)
			_, _ = unit.ParseLeast(s)
			unit.FormatCores(unit.ParseCores(s))
		})},
		{name: "terminal", pieces: []string{"\x1b[", "\x1b]0;", "日", "\u202e", "a ", "\r\n", "\x9b", "e\u0301"}, read: func(in []byte) {
			_, _ = terminal.NewScreen(io.Discard).Write(in)
			s := terminal.Clean(string(in))
			terminal.Width(s)
			terminal.Cut(s, 40, false)
			terminal.Wrap(s, 80)
			terminal.ASCII(s)
		}},
	}
	for _, kind := range kinds {
		out = append(out, row{name: "mask, " + kind, pieces: secrets, read: text(func(s string) { capture.Mask(kind, s) })})
	}
	return out
}
