package accessformat

import (
	"bytes"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/kasoku/kasoku/sandbox"
	"github.com/kasoku/kasoku/sandbox/sandboxtest"
)

// liveConfig is an nginx that writes every request to logs of several formats. It
// passes some on to itself, by way of a server that is not there.
const liveConfig = `{user}
pid {dir}/nginx.pid;
error_log {dir}/error.log;
events {}
http {
    log_format timed '$remote_addr - $remote_user [$time_local] "$request" $status $body_bytes_sent '
                     '"$http_referer" "$http_user_agent" $request_time';
    log_format full '$remote_addr - $remote_user [$time_local] "$request" $status $body_bytes_sent '
                    '"$http_referer" "$http_user_agent" $request_length $request_time $upstream_response_time';
    log_format alp '$remote_addr - $remote_user [$time_local] "$request" $status $body_bytes_sent '
                   '"$http_referer" "$http_user_agent" "$upstream_response_time" [$request_time]';
    log_format ltsv "time:$time_local\thost:$remote_addr\tforwardedfor:$http_x_forwarded_for\treq:$request\tstatus:$status\tmethod:$request_method\turi:$request_uri\tsize:$body_bytes_sent\treferer:$http_referer\tua:$http_user_agent\treqtime:$request_time\tcache:$upstream_http_x_cache\truntime:$upstream_http_x_runtime\tapptime:$upstream_response_time\tvhost:$host\treqsize:$request_length";
    log_format json escape=json '{"time":"$time_iso8601","request":"$request","method":"$request_method","uri":"$request_uri","status":$status,'
        '"body_bytes":$body_bytes_sent,"referer":"$http_referer","ua":"$http_user_agent","request_time":$request_time,'
        '"upstream":{"upstream_response_time":"$upstream_response_time"},"response_time":"$upstream_response_time","request_length":$request_length}';
    log_format own '$msec|$request_method|$uri|$args|$status|$body_bytes_sent|$request_time|$upstream_response_time|$request_length|$http_user_agent|$http_referer';
    access_log {dir}/plain.log;
    access_log {dir}/timed.log timed;
    access_log {dir}/full.log full;
    access_log {dir}/alp.log alp;
    access_log {dir}/ltsv.log ltsv buffer=64k flush=1s;
    access_log {dir}/json.log json;
    access_log {dir}/own.log own;
    upstream self { server 127.0.0.1:1 max_fails=0; server 127.0.0.1:{port}; }
    client_body_temp_path {dir}/body; proxy_temp_path {dir}/proxy;
    lingering_close off; # a request is logged when it is answered
    server {
        listen 127.0.0.1:{port};
        location / { return 200 'hello'; }
        location /missing { return 404; }
        location /proxied { proxy_pass http://self/inner; }
        location /slow { proxy_pass http://{upstream}; }
        location /inner { access_log off; return 201 'inner'; }
    }
}
`

// liveRequest is what was asked for.
type liveRequest struct {
	method, path, agent, referer, body string
	status                             int
}

var liveRequests = []liveRequest{
	{"GET", "/a?b=c&d=%20e", "agent/1.0 (x; y)", "http://r/?q", "", 200},
	{"POST", "/a/b", `quoted "agent" \ [x]`, "", "some body", 200},
	{"HEAD", "/missing", "-", "http://r/\"", "", 404},
	{"GET", "/%E3%81%82/\"'", "ünïcode", "-", "", 200},
	{"GET", "/proxied/x", "proxied", "", "", 201},
	{"PUT", "/proxied?y", "proxied", "", "body", 201},
	{"DELETE", "/a", "", "", "", 200},
	{"GET", "/slow?n=1", "patient", "", "", 202},
}

// liveDelay is how long the upstream server of nginx takes to answer.
const liveDelay = 30 * time.Millisecond

// slowServer answers late.
func slowServer(t *testing.T) (addr string) {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		select {
		case <-time.After(liveDelay):
		case <-r.Context().Done():
		}
		w.WriteHeader(http.StatusAccepted)
	}))
	t.Cleanup(s.Close)
	return s.Listener.Addr().String()
}

var escapedByte = regexp.MustCompile(`\\x[0-9A-F]{2}`)

// unescaped resolves nginx's default escapes.
func unescaped(b []byte) string {
	return string(escapedByte.ReplaceAllFunc(b, func(e []byte) []byte {
		n, _ := strconv.ParseUint(string(e[2:]), 16, 8)
		return []byte{byte(n)}
	}))
}

// askNginx sends the requests, and what is no request.
func askNginx(t *testing.T, s *sandbox.NginxServer) {
	t.Helper()
	for _, q := range liveRequests {
		req, err := http.NewRequest(q.method, s.URL(), strings.NewReader(q.body))
		if err != nil {
			t.Fatal(err)
		}
		req.URL.Opaque = q.path
		req.Header.Set("User-Agent", q.agent)
		if q.referer != "" {
			req.Header.Set("Referer", q.referer)
		}
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		if res.Body.Close(); res.StatusCode != q.status {
			t.Fatalf("%s %s: %s, want %d", q.method, q.path, res.Status, q.status)
		}
	}
	for _, garbage := range []string{"\x16\x03\x01\x02\x00\x01\xfc\"\\\r\n\r\n", "\r\nGET\r\n\r\n"} {
		c, err := net.Dial("tcp", s.Addr())
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprint(c, garbage)
		c.SetReadDeadline(time.Now().Add(10 * time.Second))
		if _, err := c.Read(make([]byte, 1000)); err != nil {
			t.Fatal(err)
		}
		c.Close()
	}
}

// TestNginx: logs that a real nginx writes are read with what was requested,
// whether the format is found or comes from the configuration.
func TestNginx(t *testing.T) {
	dir := t.TempDir()
	s := sandboxtest.Nginx(t, sandbox.NginxOptions{Dir: dir, Config: liveConfig, Upstream: slowServer(t)})
	began := time.Now()
	askNginx(t, s)
	if err := s.Stop(t.Context()); err != nil { // which flushes the logs
		t.Fatal(err)
	}
	logs, err := FormatsFromNginxConf(s.ConfigFile)
	if err != nil || len(logs) != 7 {
		t.Fatalf("%d logs in the configuration: %v", len(logs), err)
	}
	var latencies string // of the first log that has them
	for _, log := range logs {
		sample, err := os.ReadFile(log.Path)
		if err != nil {
			t.Fatal(err)
		}
		given, err := FormatFor(logs, log.Path)
		if err != nil {
			t.Fatal(err)
		}
		formats := []*Format{given}
		if name := filepath.Base(log.Path); name != "own.log" { // which cannot be known
			found, err := Detect(sample)
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			formats = append(formats, found)
		}
		for _, f := range formats {
			got := checkLive(t, log, f, sample, began)
			if log.Name == "combined" {
				continue
			}
			if latencies == "" {
				latencies = got
			}
			if got != latencies {
				t.Errorf("%s as %s: request times %s, want %s", log.Path, f.Name(), got, latencies)
			}
		}
	}
}

// checkLive compares a log with what was requested, and returns the request times.
func checkLive(t *testing.T, log NginxLog, f *Format, sample []byte, began time.Time) (latencies string) {
	t.Helper()
	p := f.Parser(ParserOptions{})
	lines := bytes.SplitAfter(bytes.TrimSuffix(sample, []byte("\n")), []byte("\n"))
	if len(lines) != len(liveRequests)+2 {
		t.Fatalf("%s: %d lines\n%s", log.Path, len(lines), sample)
	}
	has := map[string]Has{"plain": 0, "timed": HasLatency, "own": HasLatency | HasUpstream | HasRequestBytes}
	for i, line := range lines {
		var r Record
		if why := p.Parse(line, &r); why != "" {
			t.Errorf("%s as %s: %s: %s", log.Path, f.Name(), line, why)
			continue
		}
		latencies += fmt.Sprint(r.Latency, " ")
		if at := r.Time().Add(r.Resolution); at.Before(began.Truncate(time.Second)) || r.Time().After(time.Now()) || !r.Stamped() {
			t.Errorf("%s: time %v, began %v", line, r.Time(), began)
		}
		if i >= len(liveRequests) {
			if r.Status != 400 || len(r.Path) > 0 && log.Name != "own" {
				t.Errorf("%s as %s: no request: %s", log.Path, f.Name(), everything(&r))
			}
			continue
		}
		q := liveRequests[i]
		text := unescaped
		if log.Name == "json" {
			text = func(b []byte) string { return string(b) }
		}
		dash := func(s string) string {
			if s == "" && log.Name != "json" {
				return "-"
			}
			return s
		}
		path, agent, referer := text(r.Path), text(r.UserAgent), text(r.Referer)
		wantPath := q.path
		if log.Name == "own" { // $uri is decoded
			wantPath = strings.ReplaceAll(wantPath, "%E3%81%82", "あ")
		}
		if string(r.Method) != q.method || path != wantPath || r.Status != q.status || agent != dash(q.agent) || referer != dash(q.referer) {
			t.Errorf("%s as %s:\n got %s\nwant %+v", log.Path, f.Name(), everything(&r), q)
		}
		want, ok := has[log.Name]
		if !ok {
			want = has["own"]
		}
		if log.Name == "combined" {
			want = 0
		} else if log.Name == "alp" {
			want &^= HasRequestBytes
		}
		slow := strings.HasPrefix(q.path, "/slow")
		if !slow && !strings.HasPrefix(q.path, "/proxied") {
			want &^= HasUpstream
		}
		if slow && (r.Timed() && r.Latency < liveDelay || r.Has&HasUpstream != 0 && r.Upstream < liveDelay) {
			t.Errorf("%s: %s, took at least %v", log.Path, everything(&r), liveDelay)
		}
		if r.Has&(HasLatency|HasUpstream|HasRequestBytes) != want || want&HasRequestBytes != 0 && r.RequestBytes < uint64(len(q.method+q.path+q.body)+20) {
			t.Errorf("%s as %s: %s, has %b, want %b", log.Path, f.Name(), everything(&r), r.Has, want)
		}
	}
	return latencies
}
