package vegeta

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/kasoku/kasoku/load"
	"github.com/kasoku/kasoku/load/nethttp"
)

// seen is what a server saw of an attack.
type seen struct {
	mu                  sync.Mutex
	seqs, names, bodies []string
}

func (s *seen) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.seqs = append(s.seqs, r.Header.Get("X-Vegeta-Seq"))
	s.names = append(s.names, r.Header.Get("X-Vegeta-Attack"))
	s.bodies = append(s.bodies, string(body))
	if r.URL.Path == "/fail" {
		w.WriteHeader(http.StatusInternalServerError)
	}
	w.Write([]byte("four"))
}

func TestAttackKeepsAnswers(t *testing.T) {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Add("X-Two", "a")
		w.Header().Add("X-Two", "b")
		io.WriteString(w, "a body of 20 bytes..")
	}))
	defer srv.Close()
	for _, keep := range []bool{true, false} {
		for _, e := range []Encoding{Gob, JSON, CSV} {
			var out bytes.Buffer
			o := DefaultAttack()
			o.Rate, o.Duration, o.Encoding = 1000, 5*time.Millisecond, e
			o.Stdin, o.Stdout = strings.NewReader("GET "+srv.URL+"/\n"), &out
			o.Engine.HTTP.KeepAnswers, o.Engine.HTTP.MaxBody = keep, 6
			if _, err := Attack(t.Context(), o); err != nil {
				t.Fatal(err)
			}
			body, two := "", []string(nil)
			if keep {
				body, two = "a body", []string{"a", "b"}
			}
			dec, err := NewDecoder(&out, "out")
			if err != nil {
				t.Fatal(err)
			}
			n := 0
			for r := new(Result); dec.Decode(r) == nil; n++ {
				if string(r.Body) != body || !slices.Equal(r.Headers["X-Two"], two) || r.BytesIn != 6 {
					t.Errorf("%s, keep %t: body %q, X-Two %q, %d bytes in", e, keep, r.Body, r.Headers["X-Two"], r.BytesIn)
				}
			}
			if n != 5 {
				t.Errorf("%s: %d results, want 5", e, n)
			}
		}
	}
}

func TestAttackAndReport(t *testing.T) {
	for _, e := range []Encoding{"", Gob, JSON, CSV} {
		attackAndReport(t, e)
	}
}

func attackAndReport(t *testing.T, e Encoding) {
	var s seen
	srv := httptest.NewServer(&s)
	defer srv.Close()
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	o := DefaultAttack()
	o.Name, o.Rate, o.Duration, o.Encoding = "test", 1000, 20*time.Millisecond, e
	o.Targets = write("targets.txt", "POST "+srv.URL+"/ok\n@own\nPUT "+srv.URL+"/fail\n")
	write("own", "own body")
	o.Body = write("default", "default")
	o.Output = filepath.Join(dir, "out")
	res, err := Attack(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	if res.Tally.Asked != 20 || res.Tally.Success != 10 || res.Tally.Errors["500 Internal Server Error"] != 10 {
		t.Errorf("tally is %+v", res.Tally)
	}
	s.mu.Lock() // raw sockets order no memory
	defer s.mu.Unlock()
	if slices.Sort(s.seqs); len(slices.Compact(s.seqs)) != 20 || s.names[7] != "test" {
		t.Errorf("sequence numbers %q, names %q", s.seqs, s.names)
	}
	if n := len(slices.DeleteFunc(s.bodies, func(s string) bool { return s == "own body" })); n != 10 {
		t.Errorf("%d default bodies, want 10", n)
	}
	checkResults(t, o.Output, srv.URL)
	var report bytes.Buffer
	if err := Report(t.Context(), ReportOptions{Files: []string{o.Output}, Stdout: &report}); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(report.String(), "200:10  500:10") {
		t.Errorf("report is\n%s", &report)
	}
}

// checkResults checks the file of an attack of 20 requests at 1,000/s.
func checkResults(t *testing.T, file, url string) {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	_, results := readResults(t, data)
	slices.SortFunc(results, func(a, b Result) int { return int(a.Seq) - int(b.Seq) })
	for i, r := range results {
		due := results[0].Timestamp.Add(time.Duration(i) * time.Millisecond)
		if r.Seq != uint64(i) || !r.Timestamp.Equal(due) || r.Latency <= 0 || r.BytesIn != 4 || r.Attack != "test" || r.Body != nil || r.Headers != nil {
			t.Errorf("bad result %+v", r)
		}
	}
	if s := results[0]; len(results) != 20 || time.Since(s.Timestamp).Abs() > time.Minute || s.Method != "POST" || s.URL != url+"/ok" || s.BytesOut != 8 {
		t.Errorf("%d results, the first %+v", len(results), s)
	}
}

func TestAttackClosedLoop(t *testing.T) {
	srv := httptest.NewServer(http.NotFoundHandler())
	defer srv.Close()
	o := DefaultAttack()
	o.Rate, o.MaxWorkers, o.Duration = 0, 2, 50*time.Millisecond
	o.Stdin, o.Stdout = strings.NewReader("GET "+srv.URL), io.Discard
	var watched *load.Recorder
	o.Watch = func(r *Running) load.Sink {
		watched = load.NewRecorder(r.Plan, 0)
		return watched
	}
	res, err := Attack(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	if res.Summary.Model != "closed loop" || res.Tally.Asked == 0 || res.Tally.Codes[404] != res.Tally.Asked || watched.Tally(0).Asked != res.Tally.Asked {
		t.Errorf("result is %+v", res)
	}
}

func TestAttackStopsWhenItCannotWrite(t *testing.T) {
	srv := httptest.NewServer(http.NotFoundHandler())
	defer srv.Close()
	o := DefaultAttack()
	o.Rate = 1000
	o.Stdin, o.Stdout = strings.NewReader("GET "+srv.URL), brokenPipe{}
	res, err := Attack(t.Context(), o)
	if !errors.Is(err, io.ErrClosedPipe) || !strings.HasPrefix(res.Summary.Stopped, "write results: ") {
		t.Errorf("error is %v, stopped by %q", err, res.Summary.Stopped)
	}
}

func TestAttackInterrupted(t *testing.T) {
	srv := httptest.NewServer(http.NotFoundHandler())
	defer srv.Close()
	o := DefaultAttack()
	var out bytes.Buffer
	o.Stdin, o.Stdout = strings.NewReader("GET "+srv.URL), &out
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	res, err := Attack(ctx, o)
	if err != nil || res.Summary.Stopped != "deadline" {
		t.Errorf("error is %v, stopped by %q", err, res.Summary.Stopped)
	}
	if _, results := readResults(t, out.Bytes()); uint64(len(results)) != res.Tally.Asked {
		t.Errorf("%d results of %d requests", len(results), res.Tally.Asked)
	}
}

func TestAttack_Failure(t *testing.T) {
	f := func(change func(*AttackOptions), want string) {
		t.Helper()
		o := DefaultAttack()
		o.Stdin, o.Stdout = strings.NewReader("GET http://h/"), io.Discard
		o.Duration = time.Millisecond
		change(&o)
		if _, err := Attack(t.Context(), o); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error is %v, want %q", err, want)
		}
	}
	f(func(o *AttackOptions) { o.Rate = 0 }, "-rate=0 requires setting -max-workers")
	f(func(o *AttackOptions) { o.Rate = -1 }, "bad rate -1")
	f(func(o *AttackOptions) { o.Duration = -1 }, "bad duration")
	f(func(o *AttackOptions) { o.Format = "xml" }, `"xml"`)
	f(func(o *AttackOptions) { o.Encoding = "xml" }, `"xml"`)
	f(func(o *AttackOptions) { o.Body = "testdata/none" }, "read body: open testdata/none")
	f(func(o *AttackOptions) { o.Targets = "testdata/none" }, "open targets: open testdata/none")
	f(func(o *AttackOptions) { o.Output = "testdata/none/x" }, "create output: ")
	f(func(o *AttackOptions) { o.Stdin = strings.NewReader("") }, "no targets to attack")
	f(func(o *AttackOptions) { o.Engine.HTTP.Dial.LocalAddr = "x" }, `"x"`)
}

func TestValues(t *testing.T) {
	type value interface {
		Set(string) error
		String() string
		Type() string
	}
	f := func(v value, in, want string) {
		t.Helper()
		if err := v.Set(in); err != nil || v.String() != want {
			t.Errorf("%T: %q gives %q, error %v, want %q", v, in, v.String(), err, want)
		}
		if v.Type() == "" {
			t.Errorf("%T has no type", v)
		}
	}
	var body int64
	f(MaxBodyValue{&body}, "-1", "-1")
	if body != 0 {
		t.Errorf("no limit is %d", body)
	}
	f(MaxBodyValue{&body}, "0", "0")
	f(MaxBodyValue{&body}, "10 kB", "10000")
	redirects := 0
	f(RedirectsValue{&redirects}, "-1", "-1")
	if redirects != nethttp.NoFollow {
		t.Errorf("-1 is %d", redirects)
	}
	f(RedirectsValue{&redirects}, "0", "0")
	f(RedirectsValue{&redirects}, "3", "3")
	var timeout time.Duration
	f(TimeoutValue{&timeout}, "0", "0s")
	f(TimeoutValue{&timeout}, "5s", "5s")
	var ttl time.Duration
	f(DNSTTLValue{&ttl}, "-1", "-1")
	f(DNSTTLValue{&ttl}, "1m", "1m0s")
	var list []string
	f(ListValue{&list}, "a, b", "a,b")
	var header http.Header
	f(HeaderValue{&header}, "x-A: b:c", "")
	f(HeaderValue{&header}, "x-A: d", "")
	const kept = "x-A" // Vegeta does not make it canonical
	if got := map[string][]string(header)[kept]; !slices.Equal(got, []string{"b:c", "d"}) {
		t.Errorf("headers are %v", header)
	}
	for _, v := range []value{MaxBodyValue{&body}, RedirectsValue{&redirects}, TimeoutValue{&timeout}, ListValue{&list}, HeaderValue{&header}} {
		if err := v.Set(",x"); err == nil {
			t.Errorf("%T takes %q", v, ",x")
		}
	}
	for _, v := range []value{MaxBodyValue{}, RedirectsValue{}, TimeoutValue{}, ListValue{}, HeaderValue{}} {
		if v.String() != "" {
			t.Errorf("the zero %T prints %q", v, v.String())
		}
	}
	f(RedirectsValue{new(int)}, "10", "10")
	if (RedirectsValue{new(int)}).String() != "10" || (TimeoutValue{new(time.Duration)}).String() != "30s" {
		t.Error("defaults are not shown as Vegeta's")
	}
}
