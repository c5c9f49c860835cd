package accessformat

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// everything describes all that was read from a line.
func everything(r *Record) string {
	var out []string
	add := func(name string, v []byte) {
		if v != nil {
			out = append(out, fmt.Sprintf("%s=%s", name, v))
		}
	}
	if r.Stamped() {
		out = append(out, time.Unix(0, r.Unix).UTC().Format("2006-01-02T15:04:05.999999999")+"±"+r.Resolution.String())
	}
	add("method", r.Method)
	add("path", r.Path)
	add("protocol", r.Protocol)
	if r.Has&HasStatus != 0 {
		out = append(out, fmt.Sprint("status=", r.Status))
	}
	if r.Has&HasBytes != 0 {
		out = append(out, fmt.Sprint("size=", r.Bytes))
	}
	if r.Has&HasRequestBytes != 0 {
		out = append(out, fmt.Sprint("reqsize=", r.RequestBytes))
	}
	if r.Timed() {
		out = append(out, fmt.Sprint("time=", r.Latency))
	}
	if r.Has&HasUpstream != 0 {
		out = append(out, fmt.Sprint("upstream=", r.Upstream))
	}
	add("addr", r.RemoteAddr)
	add("user", r.User)
	add("ref", r.Referer)
	add("ua", r.UserAgent)
	add("vhost", r.VHost)
	add("xff", r.ForwardedFor)
	for i, v := range r.Extra {
		add(fmt.Sprint("extra", i), v)
	}
	return strings.Join(out, " ")
}

func TestParseFormat_Success(t *testing.T) {
	f := func(spec, line, want string, extra ...string) {
		t.Helper()
		format, err := ParseFormat(spec)
		if err != nil {
			t.Errorf("%s: %v", spec, err)
			return
		}
		var r Record
		if why := format.Parser(ParserOptions{Location: tokyo, Extra: extra}).Parse([]byte(line), &r); why != "" {
			t.Errorf("%s\n%s: %s", spec, line, why)
			return
		}
		if got := everything(&r); got != want {
			t.Errorf("%s\n%s\n got %s\nwant %s", spec, line, got, want)
		}
	}
	const line = `1.2.3.4 - bob [21/Aug/2021:10:00:00 +0900] "GET /a?b HTTP/1.1" 200 12 "http://r/" "agent \"x\"" `
	const want = `2021-08-21T01:00:00±1s method=GET path=/a?b protocol=HTTP/1.1 status=200 size=12 `
	const rest = `addr=1.2.3.4 user=bob ref=http://r/ ua=agent \"x\"`
	// nginx
	f(nginxCombined+` $request_time $upstream_response_time $pipe`, line+"0.021 0.001, 0.020 : 0.3 .", want+"time=21ms upstream=321ms "+rest)
	f(`log_format x '$remote_addr - $remote_user [$time_local] '
		'"$request" $status $body_bytes_sent ' # all
		"\"$http_referer\" \"$http_user_agent\" $request_length";`, line+"77", want+"reqsize=77 "+rest)
	f(`'$remote_addr - $remote_user [$time_local] "$request" $status $bytes_sent ' '"$http_referer" "$http_user_agent" ${http_x_foo}s'`,
		line+"foos", want+rest+" extra0=foo", "http_x_foo")
	f(`$msec|$request_method|$request_uri|$status|$upstream_response_time`, "1629507600.123|GET|/a|200|-", "2021-08-21T01:00:00.123±1ms method=GET path=/a status=200")
	f(`"$request_method $scheme://$host$request_uri" $status`, `"GET https://h:80/a?b" 200`, "method=GET path=/a?b status=200 vhost=h:80")
	f(`$remote_addr "$request_method $uri$is_args$args $server_protocol" $status $time_iso8601 [$request_time]`,
		`h "GET /a b?c HTTP/2.0" 404 2021-08-21T10:00:00+09:00 [-]`, "2021-08-21T01:00:00±1s method=GET path=/a b?c protocol=HTTP/2.0 status=404 addr=h")
	f(`$uri $args $status`, `/a b=c 200`, "path=/a?b=c status=200")
	f(`$uri $args $status`, `/a - 200`, "path=/a status=200")
	f(`$request $uri $time_local $status`, `GET /a?1 HTTP/1.1 /a 21/Aug/2021:10:00:00 200`, "2021-08-21T01:00:00±1s method=GET path=/a?1 protocol=HTTP/1.1 status=200")
	f(`time:$time_iso8601\treq:$request\tx:$status\tforwarded:$http_x_forwarded_for\treqtime:$upstream_response_time\tcache:$c`,
		"time:2021-08-21T10:00:00.5Z\treq:GET /a\tx:200\tforwarded:1.1.1.1\treqtime:0.1, 0.2\tcache:HIT\tnew:1",
		"2021-08-21T10:00:00.5±100ms method=GET path=/a status=200 time=300ms upstream=300ms xff=1.1.1.1 extra0=HIT extra1=1", "cache", "new")
	f("log_format x escape=json '{\"t\":\"$msec\",\"r\":{\"u\":\"$request_uri\",\"m\":\"$request_method\"},' '\"s\":$status,\"d\":$request_time}';",
		`{"t":"1629507600.5","r":{"u":"/a\"\u00e9\/","m":"GET"},"s":200,"d":0.5}`, "2021-08-21T01:00:00.5±100ms method=GET path=/a\"é/ status=200 time=500ms")
	// Apache, H2O, Varnish
	f(`LogFormat "%h %l %u %t \"%r\" %>s %b \"%{Referer}i\" \"%{User-Agent}i\" %D" timed`, line+"21000", want+"time=21ms "+rest)
	f(`%h %l %u %t "%r" %>s %O "%{Referer}i" "%{User-agent}i" %{X-Cache}o %{ms}T %I`, line+"HIT 21 300",
		want+"reqsize=300 time=21ms "+rest+" extra0=HIT", "X-Cache")
	f(`%v:%p %h %l %u %t "%m %U%q %H" %s %B %T`, `v:80 h - - [21/Aug/2021:10:00:00 +0900] "GET /a?b HTTP/1.1" 200 12 2`,
		"2021-08-21T01:00:00±1s method=GET path=/a?b protocol=HTTP/1.1 status=200 size=12 time=2s addr=h user=- vhost=v")
	f(`%h %l %u %t "%r" %s %b "%{Referer}i" "%{User-agent}i" %{duration}x`, line+"0.000123", want+"time=123µs "+rest)
	f(`time:%t\tmethod:%m\turi:%U%q\tstatus:%>s\tsize:%b\tapptime:%D`, "time:[21/Aug/2021:10:00:00 +0900]\tmethod:GET\turi:/a?b\tstatus:200\tsize:-\tapptime:1500",
		"2021-08-21T01:00:00±1s method=GET path=/a?b status=200 time=1.5ms")
	f(`%{%Y-%m-%dT%H:%M:%S}t %{usec_frac}t "%r" %!200,304{X}i %^FO %{x}^to %s`, `2021-08-21T10:00:00 123 "GET /" x 1 2 200`, "2021-08-21T01:00:00±1s method=GET path=/ status=200")
	f(`%{%Y-%m-%d}t %{%T}t.%{msec_frac}t %{%z}t "%r" %s`, `2021-08-21 10:00:00.123 +0900 "GET /" 200`, "2021-08-21T01:00:00.123±1ms method=GET path=/ status=200")
	f(`%{sec}t %U %q %s %%`, `1629507600 /a ?b 200 %`, "2021-08-21T01:00:00±1s path=/a?b status=200")
	f(`"{\"time\":\"%t\",\"uri\":\"%U%q\",\"us\":%D}"`, `{"time":"[21/Aug/2021:10:00:00 +0900]","uri":"/a?b","us":1500}`, "2021-08-21T01:00:00±1s path=/a?b time=1.5ms")
	// goaccess
	f(`%h %^[%d:%t %^] "%r" %s %b "%R" "%u" %T`, line+"0.021", "2021-08-21T01:00:00±1s method=GET path=/a?b protocol=HTTP/1.1 status=200 size=12 time=21ms addr=1.2.3.4 ref=http://r/ ua=agent \\\"x\\\"")
	f("time-format %T\ndate-format %d/%b/%Y\nlog-format %h - [%d:%t %^] ~h{, } %^ \"%r\" %s %L", `h - [21/Aug/2021:10:00:00 +0900] 1.1.1.1, 2.2.2.2 x "GET /" 200 5`,
		"2021-08-21T01:00:00±1s method=GET path=/ status=200 time=5ms addr=h xff=1.1.1.1,")
	f("W3C", "2021-08-21 10:00:00 10.0.0.1 GET /a b=c 80 - 1.2.3.4 agent http://r 200 0 0 5",
		"2021-08-21T01:00:00±1s method=GET path=/a?b=c status=200 time=5ms addr=1.2.3.4 ref=http://r ua=agent")
	f("squid", "1629507600.123     85 1.2.3.4 TCP_MISS/200 77 GET http://x/a - DIRECT/1.1.1.1 text/html", "2021-08-21T01:00:00.123±1ms method=GET path=http://x/a status=200 size=77 time=85ms addr=1.2.3.4")
	f("CLOUDFRONT", "2021-08-21\t10:00:00\tNRT\t77\t1.2.3.4\tGET\tv\t/a\t200\t-\tua\tq=1\t-\tHit\tid\thost\thttps\t9\t0.021\t-\tTLS",
		"2021-08-21T01:00:00±1s method=GET path=/a?q=1 status=200 size=77 time=21ms addr=1.2.3.4 ref=- ua=ua vhost=v")
	f("awselb", `https 2021-08-21T01:00:00.186641Z app/x 1.2.3.4:5 10.0.0.1:80 0.000 0.001 0.000 200 200 34 366 "GET https://x:443/a HTTP/1.1" "curl" TLS x`,
		"2021-08-21T01:00:00.186641±1µs method=GET path=https://x:443/a protocol=HTTP/1.1 status=200 size=366 time=1ms addr=1.2.3.4 ua=curl")
	f(`{"ts":"%x.%^","request":{"remote_ip":"%h","method":"%m","uri":"%U","headers":{"User-Agent":["%u"]}},"duration":"%T","status":"%s"}`,
		`{"ts":1629507600.5,"request":{"remote_ip":"h","method":"GET","uri":"/","headers":{"User-Agent":["x","y"]}},"duration":0.001,"status":200}`,
		"2021-08-21T01:00:00.5±100ms method=GET path=/ status=200 time=1ms addr=h ua=x")
	// Envoy, regexps, names
	f(`[%START_TIME%] "%REQ(:METHOD)% %REQ(:PATH)% %PROTOCOL%" %RESPONSE_CODE% %DURATION% %BYTES_SENT%`, `[2021-08-21T01:00:00.123Z] "GET /a HTTP/2" 200 5 -`,
		"2021-08-21T01:00:00.123±1ms method=GET path=/a protocol=HTTP/2 status=200 time=5ms")
	f(`^(?P<addr>\S+) (?P<method>\S+) (?P<uri>\S+) (?P<status>\d+) (?P<request_time>\S+)`, `h GET /a 200 0.1 more`, "method=GET path=/a status=200 time=100ms extra0=h", "addr")
	f(`^\S+ (?P<uri>\S+)`, `GET /a 200`, "path=/a")
	f("log_format x '{\"u\":\"$request_uri\"}';", `{"u":"/a","status":200}`, "path=/a")
	f("traefik", `h - u [21/Aug/2021:10:00:00 +0900] "GET /a HTTP/1.1" 200 12 "-" "-" 5 "r@file" "http://b:80" 12ms`,
		"2021-08-21T01:00:00±1s method=GET path=/a protocol=HTTP/1.1 status=200 size=12 time=12ms addr=h user=u ref=- ua=-")
	f("Combined", line[:len(line)-1], want+rest)
	f("common", `h - - [21/Aug/2021:10:00:00 +0900] "GET / HTTP/1.0" 200 -`, "2021-08-21T01:00:00±1s method=GET path=/ protocol=HTTP/1.0 status=200 addr=h user=-")
}

// TestFormat_Sniffed: what a name does not say is found from the lines.
func TestFormat_Sniffed(t *testing.T) {
	f := func(spec, line string, want, res time.Duration) {
		t.Helper()
		format := mustFormat(t, spec).Sniffed([]byte(line + "\n"))
		var r Record
		if why := format.Parser(ParserOptions{}).Parse([]byte(line), &r); why != "" || r.Latency != want || format.Resolution() != res {
			t.Errorf("%s: %s: %v ±%v %s, want %v ±%v", spec, line, r.Latency, format.Resolution(), why, want, res)
		}
	}
	const c = `h - - [21/Aug/2021:10:00:00 +0900] "GET /a HTTP/1.1" 200 12 "-" "-" `
	f("combined", c+"21000", 21*time.Millisecond, time.Microsecond)
	f("combined", c+"0.021", 21*time.Millisecond, time.Millisecond)
	f("h2o", c+"0.000123", 123*time.Microsecond, time.Microsecond)
	f("combined", c+"-", 0, time.Millisecond)
	f("ltsv", "uri:/\tstatus:200\tduration:1.5", 1500*time.Millisecond, 100*time.Millisecond)
	f("json", `{"uri":"/","status":200,"duration":15}`, 15*time.Millisecond, time.Millisecond)
	f(nginxCombined+" $request_time", c+"0.021", 21*time.Millisecond, time.Millisecond)
	f(`%h %l %u %t "%r" %>s %b "%{Referer}i" "%{User-Agent}i" %D`, c+"21000", 21*time.Millisecond, time.Microsecond)
	f(`(?P<uri>/\S*) .* (?P<duration>\S+)$`, c+"250000", 250*time.Millisecond, time.Microsecond)
}

func TestParseFormat_Failure(t *testing.T) {
	f := func(spec string, at int, says string) {
		t.Helper()
		_, err := ParseFormat(spec)
		var e *FormatError
		if !errors.As(err, &e) || e.At != at || !strings.Contains(err.Error(), says) || !strings.Contains(e.Hint(), "log_format") {
			t.Errorf("%s: %v, want byte %d: %s", spec, err, at, says)
		}
	}
	f("", 0, "no value in the format")
	f("nonsense", 0, "no value in the format, expected names such as")
	f("$status $", 8, "no name after the dollar sign")
	f("${status $request", 0, "no name after the dollar sign")
	f("$status", 0, "the format has no request, expected $request")
	f("$status$request", 7, "nothing stands between $status and $request")
	f("log_format x;", 13, "the directive has no format")
	f("log_format x '$request", 0, "a quote is not closed")
	f("'$request", 0, "a quote is not closed")
	f(`LogFormat "%h`, 13, "a quote is not closed")
	f(`%h %{x`, 3, "a directive without a letter")
	f(`%h %^ %r %Z`, 9, `goaccess has no specifier "%Z"`)
	f(`%h %^ %`, 6, "nothing after the last %")
	f(`(?P<uri>`, 0, "missing closing )")
	f(`(?P<status>.)`, 0, "no group holds what was asked for")
	f(`{"a":"$request",}`, 0, "it begins as JSON and is none")
	f("a:$status\tb:$request_time", 0, "the format has no request")
	f(strings.Repeat("x", maxSpec+1), 0, "too long")
}

func TestFormatsFromNginxConf(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("nginx.conf", `http {
	log_format ltsv "time:$time_iso8601\tmethod:$request_method\turi:$request_uri\tstatus:$status\treqtime:$request_time";
	log_format bad '$status';
	access_log /var/log/nginx/access.log ltsv buffer=32k;
	include conf.d/*;
	server { access_log off; access_log /var/log/nginx/plain.log; access_log syslog:server=x ltsv; access_log /x/y none; }
}`)
	if err := os.Mkdir(filepath.Join(dir, "conf.d"), 0o755); err != nil {
		t.Fatal(err)
	}
	write("conf.d/a.conf", `log_format json escape=json '{"uri":"$request_uri","status":$status,"took":$request_time}';
server { access_log logs/a.json json; }`)
	logs, err := FormatsFromNginxConf(dir)
	if err == nil || !strings.Contains(err.Error(), "nginx.conf:3: log_format: log format, at byte 0") || !strings.Contains(err.Error(), `no log_format "none"`) {
		t.Errorf("error %v", err)
	}
	f := func(path, want string) {
		t.Helper()
		format, err := FormatFor(logs, path)
		got := fmt.Sprint(err)
		if err == nil {
			got = format.Name()
		}
		if !strings.Contains(got, want) {
			t.Errorf("%s: %s, want %s", path, got, want)
		}
	}
	f("/var/log/nginx/access.log", "ltsv")
	f("/var/log/nginx/access.log.2.gz", "ltsv")
	f("copy/plain.log", "combined")
	f("a.json", "json")
	f("other.log", `which format has "other.log"? There are /var/log/nginx/access.log (ltsv), logs/a.json (json), /var/log/nginx/plain.log (combined)`)
	if _, err := FormatsFromNginxConf(filepath.Join(dir, "none")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("missing: %v", err)
	}
}

func FuzzParseFormat(f *testing.F) {
	for _, p := range presetSpecs {
		f.Add(p.spec, "a")
	}
	f.Add(nginxCombined, `1.2.3.4 - bob [21/Aug/2021:10:00:00 +0900] "GET /a?b HTTP/1.1" 200 12 "http://r/" "agent \"x\"" 1`)
	f.Add(`LogFormat "%h %l %u %t \"%r\" %>s %{X}i %D" x`, `h - - [21/Aug/2021:10:00:00 +0900] "GET / HTTP/1.1" 200 x 5`)
	f.Add(`(?P<method>\S+) (?P<uri>\S+) (?P<response_time>\S+)`, "GET / 1")
	f.Add(`log_format a escape=json '{"a":{"b":["$request"]},"c":$status}';`, `{"a":{"b":["GET / HTTP/1.1"]},"c":1}`)
	f.Add("time:$msec\turi:$uri$is_args$args", "time:1\turi:/")
	f.Fuzz(func(t *testing.T, spec, line string) {
		format, err := ParseFormat(spec)
		var e *FormatError
		if err != nil && !errors.As(err, &e) {
			t.Fatalf("%T %v", err, err)
		}
		if err != nil {
			return
		}
		var r Record
		checkRecord(t, format, []byte(line), &r)
	})
}
