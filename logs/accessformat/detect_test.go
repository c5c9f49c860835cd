package accessformat

import (
	"errors"
	"strings"
	"testing"
	"time"
)

// TestDetect_Formats: what each format is called, and what is read from its last line.
func TestDetect_Formats(t *testing.T) {
	f := func(name string, res time.Duration, want string, lines ...string) {
		t.Helper()
		format, err := Detect([]byte(strings.Join(lines, "\n") + "\n"))
		if err != nil {
			t.Errorf("%s: %v", lines[0], err)
			return
		}
		if format.Name() != name || format.Resolution() != res {
			t.Errorf("%s:\n got %q ±%v\nwant %q ±%v", lines[0], format.Name(), format.Resolution(), name, res)
		}
		var r Record
		if why := format.Parser(ParserOptions{Location: tokyo}).Parse([]byte(lines[len(lines)-1]), &r); why != "" {
			t.Errorf("%s: %s", lines[len(lines)-1], why)
		}
		if got := everything(&r); got != want {
			t.Errorf("%s:\n got %s\nwant %s", lines[len(lines)-1], got, want)
		}
	}
	const ms, µs = time.Millisecond, time.Microsecond
	const c = `1.2.3.4 - - [21/Aug/2021:10:00:00 +0900] "GET /a HTTP/1.1" 200 12`
	const d = "2021-08-21T01:00:00±1s method=GET path=/a protocol=HTTP/1.1 status=200 size=12 "
	const ends = "addr=1.2.3.4 user=-"
	const two = ` "http://r/" "agent"`
	const both = ends + " ref=http://r/ ua=agent"

	// nginx, with times and lengths in any order.
	f("combined without request time", 0, d+both, c+two)
	f("combined without request time", 0, d+ends, c)
	f("combined, request time in s", ms, d+"time=21ms "+both, c+two+" 0.021")
	f("combined, request time in s", ms, d+"time=21ms "+ends, c+" 0.021")
	f("combined, request time in s", ms, d+"time=21ms upstream=20ms "+both, c+two+" 0.021 0.020")
	f("combined, request time in s", ms, d+"time=21ms upstream=20ms "+both, c+two+" 0.020 0.021")
	f("combined, request time in s", ms, d+"time=21ms upstream=20ms "+both, c+two+" 0.020 [0.021]")
	f("combined, request time in s", ms, d+"time=400ms upstream=321ms "+both, c+two+" 0.021 0.001", c+two+" 0.400 0.001, 0.020 : 0.300")
	f("combined, request time in s", ms, d+"time=5ms "+both, c+two+" 0.021 0.020", c+two+" 0.005 -")
	f("combined, request time in s", ms, d+"reqsize=77 time=21ms upstream=20ms "+both, c+two+" 77 0.021 0.020")
	f("combined, request time in s", ms, d+"reqsize=77 time=21ms "+both, c+two+" 0.021 77")
	f("combined, request time in s", ms, d+"time=21ms upstream=20ms "+both+" xff=1.1.1.1, 2.2.2.2", c+two+` "1.1.1.1, 2.2.2.2" "0.021" "0.020"`)
	f("combined, request time in s", ms, d+"time=21ms upstream=20ms "+both, c+two+` rt=0.021 uct="0.000" uht="0.020" urt="0.020"`)
	f("combined, request time in s", ms, d+"reqsize=77 time=21ms upstream=20ms "+both, c+two+" 77 0.021 [default-app-80] [] 10.0.0.1:80 12 0.020 200 0123abcd")
	f("combined, request time in s", ms, d+"reqsize=77 time=21ms upstream=120ms "+both,
		c+two+" 77 0.021 [x] [] 10.0.0.1:80 12 0.020 200 a", c+two+" 77 0.021 [x] [] 10.0.0.1:80, 10.0.0.2:80 0, 12 0.100, 0.020 502, 200 a")
	f("combined without request time", 0, d+both+" xff=-", c+two+` "1.1.1.1"`, c+two+` "-"`)
	f("combined without request time", 0, d+both, c+two+" -")
	// Apache: %D, %T, both, combinedio, virtual hosts.
	f("combined, request time in µs", µs, d+"time=21ms "+both, c+two+" 21000")
	f("combined, request time in whole s", time.Second, d+"time=2s "+both, c+two+" 2")
	f("combined, request time in µs", µs, d+"time=21ms "+both, c+two+" 1 1000001", c+two+" 0 21000")
	f("combined, request time in µs", µs, d+"time=21ms "+both, c+two+" 1000001 1", c+two+" 21000 0")
	f("combined without request time", 0, d+"reqsize=77 "+both, c+two+" 77 300")
	f("combined, request time in µs", µs, d+"reqsize=77 time=21ms "+both, c+two+" 77 300 21000")
	f("combined without request time", 0, d+both+" vhost=h:80", "h:80 "+c+two)
	// H2O's %{duration}x, Rack, Varnish's %D.
	f("combined, request time in s", µs, d+"time=123µs "+both, c+two+" 0.000123")
	f("combined, request time in s", 100*µs, d+"time=1.2ms "+ends, c+" 0.0012")
	f("combined, request time in µs", µs, strings.Replace(d, "/a", "http://h/a", 1)+"time=21ms "+both, strings.Replace(c, "/a", "http://h/a", 1)+two+" 21000")
	// Traefik, Envoy, and formats that are not configured.
	f("combined, request time in s", ms, d+"time=12ms "+both, c+two+` 5 "r@file" "http://b:80" 12ms`)
	f("envoy", ms, "2016-04-15T20:17:00.31±1ms method=POST path=/api/v1 protocol=HTTP/2 status=204 size=0 reqsize=154 time=226ms upstream=100ms ua=nsq2http vhost=locations xff=10.0.35.28",
		`[2016-04-15T20:17:00.310Z] "POST /api/v1 HTTP/2" 204 - 154 0 226 100 "10.0.35.28" "nsq2http" "cc21d9b0" "locations" "tcp://10.0.2.1:80"`)
	f("squid", ms, "2021-08-21T01:00:00.123±1ms method=GET path=http://x/a status=200 size=77 time=85ms addr=1.2.3.4",
		"1629507600.123     85 1.2.3.4 TCP_MISS/200 77 GET http://x/a - DIRECT/1.1.1.1 text/html")
	f("w3c", ms, "2021-08-21T01:00:00±1s method=GET path=/a?b=c status=200 time=5ms addr=1.2.3.4 ref=- ua=agent",
		"#Fields: date time", "2021-08-21 10:00:00 10.0.0.1 GET /a b=c 80 - 1.2.3.4 agent - 200 0 0 5")
	// LTSV with alp's, kataribe's and ltsv.org's labels.
	const l = "time:21/Aug/2021:10:00:00 +0900\tmethod:GET\turi:/a\tstatus:200\tsize:12\t"
	const e = "2021-08-21T01:00:00±1s method=GET path=/a status=200 size=12 "
	f("ltsv", ms, e+"time=21ms upstream=20ms", l+"reqtime:0.021\tapptime:0.020")
	f("ltsv", ms, e+"time=300ms upstream=300ms", l+"reqtime:-\tapptime:0.100, 0.200")
	f("ltsv", µs, e+"time=21ms", l+"reqtime_microsec:21000")
	f("ltsv", ms, e[:len(e)-1], l+"reqtime:-")
	f("ltsv", ms, e+"time=21ms", l+"duration:21")
	f("ltsv", 1, e+"time=21ms", l+"latency:21000000")
	f("ltsv", ms, "method=GET path=/a status=200 time=21ms", "uri:/a\tmethod:GET\tstatus:200\treqtime:0.021")
	// JSON with alp's keys, and what servers and frameworks write.
	f("json", ms, e+"time=21ms upstream=20ms", `{"time":"21/Aug/2021:10:00:00 +0900","method":"GET","uri":"/a","status":"200","body_bytes":12,"request_time":0.021,"response_time":"0.020"}`)
	f("json", ms, e+"time=21ms", `{"time":"2021-08-21T10:00:00+09:00","request_method":"GET","request_uri":"/a","status":200,"body_bytes_sent":"12","request_time":"0.021","upstream_response_time":""}`)
	f("json of Caddy", 1, "2021-08-21T01:00:00.5240424±100ns method=GET path=/a protocol=HTTP/2.0 status=200 size=12 reqsize=0 time=929.675µs addr=127.0.0.1 user= ref=http://r/ ua=curl/7.82.0 vhost=localhost",
		`{"level":"info","ts":1629507600.5240424,"logger":"http.log.access.log0","msg":"handled request","request":{"remote_ip":"127.0.0.1","remote_port":"41342","client_ip":"127.0.0.1","proto":"HTTP/2.0","method":"GET","host":"localhost","uri":"/a","headers":{"User-Agent":["curl/7.82.0"],"Accept":["*/*"],"Referer":["http://r/"]},"tls":{"resumed":false,"version":772}},"bytes_read":0,"user_id":"","duration":0.000929675,"size":12,"status":200,"resp_headers":{"Server":["Caddy"],"Status":["x"]}}`)
	f("json of Traefik", 1, "2021-08-21T01:00:00±1s method=GET path=/a protocol=HTTP/1.1 status=200 size=12 reqsize=0 time=12.345678ms upstream=12ms addr=1.2.3.4 user=- ua=curl vhost=h",
		`{"ClientAddr":"1.2.3.4:5","ClientHost":"1.2.3.4","ClientUsername":"-","DownstreamContentSize":12,"DownstreamStatus":200,"Duration":12345678,"OriginContentSize":13,"OriginDuration":12000000,"OriginStatus":500,"RequestContentSize":0,"RequestHost":"h","RequestMethod":"GET","RequestPath":"/a","RequestProtocol":"HTTP/1.1","StartUTC":"2021-08-21T00:59:59.9Z","level":"info","msg":"","request_User-Agent":"curl","time":"2021-08-21T10:00:00+09:00"}`)
	f("json", ms, "2021-08-21T01:00:00.1±100ms method=GET path=/a protocol=HTTP/1.1 status=200 size=12 reqsize=3 time=5ms ua=x vhost=h",
		`{"start_time":"2021-08-21T01:00:00.1Z","method":"GET","path":"/a","protocol":"HTTP/1.1","response_code":200,"bytes_sent":12,"bytes_received":3,"duration":5,"user_agent":"x","authority":"h","response_flags":"-","upstream_host":null}`)
	f("json", ms, "method=GET path=/a?b status=200 size=12 time=20ms", `{"severity":"INFO","httpRequest":{"requestMethod":"GET","requestUrl":"/a?b","status":200,"responseSize":"12","latency":"0.020s"}}`)
	f("json in access", ms, "method=GET path=/a status=200 time=21ms", `{"app":"x","access":{"method":"GET","uri":"/a","status":200,"request_time":0.021}}`)
	// Byte order mark, CR LF, blank and broken lines before.
	f("combined, request time in s", ms, d+"time=21ms "+both, byteOrderMark+c+two+" 0.021\r", "", "\r", "garbage", c+two+" 0.021\r")
}

func TestDetect_Failure(t *testing.T) {
	f := func(sample string, line int64, text string) {
		t.Helper()
		_, err := Detect([]byte(sample))
		var e *UnknownFormatError
		if !errors.As(err, &e) || e.Line != line || e.Text != text {
			t.Errorf("%q: %v", sample, err)
		}
	}
	f("", 0, "")
	f("\n\n\nhello\nworld\n", 4, "hello")
	f("{}\n", 1, "{}")
	f(`{"time":1,"level":"info"}`, 1, `{"time":1,"level":"info"}`)
	f("password=x\n", 1, "password=***")
	f("\x1f\x8b\x08\x00\x00", 1, "\uFFFD")
	f(strings.Repeat("[", 100), 1, strings.Repeat("[", 100))
}

// TestParser_Strays: a log may change its format when the server gets a new
// configuration; nothing is lost.
func TestParser_Strays(t *testing.T) {
	const c = `1.2.3.4 - - [21/Aug/2021:10:00:00 +0900] "GET /a HTTP/1.1" 200 12 "-" "-"`
	lines := []string{c, c + " 0.021", "time:21/Aug/2021:10:00:00 +0900\turi:/a\tstatus:200\treqtime:0.021", `{"uri":"/a","status":200,"request_time":0.021}`, "garbage", c + " 1 2 3"}
	for first := range 4 {
		f, err := Detect([]byte(lines[first]))
		if err != nil {
			t.Fatal(err)
		}
		p := f.Parser(ParserOptions{})
		for i, line := range lines {
			var r Record
			why := p.Parse([]byte(line), &r)
			if (why == "") != (i < 4) || i < 4 && string(r.Path) != "/a" || i > 0 && i < 4 && r.Latency != 21*time.Millisecond {
				t.Errorf("%s in %s: %q %s", line, f.Name(), why, everything(&r))
			}
		}
		if p.Strays() != 3 {
			t.Errorf("%s: %d strays", f.Name(), p.Strays())
		}
	}
}

func FuzzDetect(f *testing.F) {
	for _, line := range hardLines {
		f.Add([]byte(line + "\n" + line + " 1 0.5 \"x\" [] a=\"b\"\n"))
	}
	for _, name := range []string{"combined.log", "ltsv.log", "json.log"} {
		lines, _ := sampleLines(f, name)
		f.Add([]byte(string(lines[0]) + string(lines[1])))
	}
	f.Add([]byte(`{"a":{"b":{"uri":"\u0041","status":1,"d":[{}]}}}`))
	f.Fuzz(func(t *testing.T, sample []byte) {
		format, err := Detect(sample)
		var unknown *UnknownFormatError
		if err != nil && !errors.As(err, &unknown) || (err == nil) == (format == nil) {
			t.Fatalf("%v %v", format, err)
		}
		if err != nil {
			return
		}
		var r Record
		good := 0
		eachLine(sample, func(_ int64, line []byte) {
			if checkRecord(t, format, line, &r) == "" {
				good++
			}
		})
		if good == 0 {
			t.Fatalf("%q: %s reads no line", sample, format.Name())
		}
	})
}

// TestTakeLines: blank lines are not counted, and each line is looked at once.
func TestTakeLines(t *testing.T) {
	head, rest := takeLines([]byte(strings.Repeat("\n \na\n", 100)))
	if n := strings.Count(string(head), "\n"); n != groupLines || strings.Count(string(head), "a") != n || len(rest) != 36*5 {
		t.Errorf("%d lines taken, %d bytes left", n, len(rest))
	}
}
