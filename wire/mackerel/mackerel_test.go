package mackerel

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/kasoku/kasoku/internal/test/mackereltest"
)

const host = "2eQGEaLxibb"

func start(t *testing.T, o Options) (*mackereltest.Server, *Client) {
	t.Helper()
	s := mackereltest.New(t, map[string]string{"web 1&x": host})
	o.Base, o.FirstWait = s.URL, time.Millisecond
	if o.Key == "" {
		o.Key = mackereltest.Key
	}
	c, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	return s, c
}

func TestPost(t *testing.T) {
	s, c := start(t, Options{})
	values := make([]HostValue, 1201)
	for i := range values {
		values[i] = HostValue{host, Value{"custom.kasoku.a", int64(i + 1), float64(i)}}
	}
	values[7].Value.Value = math.NaN()
	n, err := c.PostHost(t.Context(), values)
	got := s.Values()
	if err != nil || n != 1200 || len(got) != 1200 || s.Requests() != 3 {
		t.Fatalf("%d posted in %d requests, %d arrived: %v", n, s.Requests(), len(got), err)
	}
	if got[1199] != (mackereltest.Value{Host: host, Name: "custom.kasoku.a", Time: 1201, Value: 1200}) {
		t.Errorf("the last one is %+v", got[1199])
	}
	n, err = c.PostService(t.Context(), mackereltest.Service, []Value{{"kasoku.load.requests", 1, 0}})
	if got := s.Values(); err != nil || n != 1 || got[1200] != (mackereltest.Value{Name: "kasoku.load.requests", Time: 1}) {
		t.Errorf("%d posted, %+v: %v", n, got[1200:], err)
	}
	if n, err = c.PostHost(t.Context(), nil); n != 0 || err != nil {
		t.Errorf("nothing is %d, %v", n, err)
	}
	var e *Error
	if _, err = c.PostService(t.Context(), "shöp/..", []Value{{"a", 1, 1}}); !errors.As(err, &e) || e.Status != 404 || e.Hint() == "" {
		t.Errorf("an unknown service: %v", err)
	}
}

func TestDefineGraphs(t *testing.T) {
	s, c := start(t, Options{})
	var graphs []Graph
	for i := range 101 {
		name := fmt.Sprintf("custom.kasoku.a%d.#", i)
		graphs = append(graphs, Graph{Name: name, Label: "a", Unit: Unit("bytes/s"), Metrics: []Line{{Name: name + ".avg", Label: "mean", Stacked: true}}})
	}
	if err := c.DefineGraphs(t.Context(), graphs); err != nil || s.Requests() != 2 || len(s.Graphs()) != 101 {
		t.Fatalf("%d graphs in %d requests: %v", len(s.Graphs()), s.Requests(), err)
	}
	if got := fmt.Sprint(s.Graphs()[100]); got != "{custom.kasoku.a100.# a bytes/sec [{custom.kasoku.a100.#.avg mean true}]}" {
		t.Error(got)
	}
	if err := c.DefineGraphs(t.Context(), nil); err != nil || s.Requests() != 2 {
		t.Errorf("no graphs are %d requests: %v", s.Requests()-2, err)
	}
	for of, want := range map[string]string{"bytes": "bytes", "s": "seconds", "s/s": "float", "count": "float", "ratio": "float", "": "float"} {
		if got := Unit(of); got != want {
			t.Errorf("%q is %s, want %s", of, got, want)
		}
	}
}

func TestAnnotate(t *testing.T) {
	s, c := start(t, Options{})
	id, err := c.Annotate(t.Context(), Annotation{Title: strings.Repeat("題", 300), Description: strings.Repeat("x", 2000), From: 100, To: 99, Service: mackereltest.Service, Roles: []string{mackereltest.Role}})
	if err != nil || id != "an0" {
		t.Fatalf("%q, %v", id, err)
	}
	if a := s.Annotations()[0]; a.To != 100 || !strings.HasSuffix(a.Title, "題…") || utf8.RuneCountInString(a.Title) != 250 {
		t.Errorf("%+v", a)
	}
}

func TestFind(t *testing.T) {
	s, c := start(t, Options{})
	for _, status := range statuses {
		s.SetStatus(status)
		hosts, err := c.HostsNamed(t.Context(), "web 1&x")
		if err != nil || len(hosts) != 1 || hosts[0] != (Host{host, "web 1&x", status}) {
			t.Errorf("%s: %+v, %v", status, hosts, err)
		}
	}
	services, err := c.Services(t.Context())
	if err != nil || len(services) != 1 || services[0] != mackereltest.Service {
		t.Errorf("%v, %v", services, err)
	}
}

// TestRetry: what may pass is asked again, what is refused is not.
func TestRetry(t *testing.T) {
	f := func(failures []int, wantRequests int, ok bool) {
		t.Helper()
		s, c := start(t, Options{Attempts: 4})
		s.Fail("", failures...)
		_, err := c.PostHost(t.Context(), []HostValue{{host, Value{"custom.a", 1, 1}}})
		if (err == nil) != ok || s.Requests() != wantRequests {
			t.Errorf("after %v: %d requests, %v", failures, s.Requests(), err)
		}
		if ok && len(s.Values()) != 1 {
			t.Errorf("after %v: %v arrived", failures, s.Values())
		}
	}
	f([]int{429, 503, 0}, 4, true)
	f([]int{500, 502, 429, 503}, 4, false)
	f([]int{400}, 1, false)
	f([]int{403}, 1, false)
	f([]int{302}, 1, false) // and is not followed, with the key
}

// TestRetryAfter: the wait that the service asks for is kept, and ends with the
// context.
func TestRetryAfter(t *testing.T) {
	s, c := start(t, Options{})
	s.Fail("50", 429)
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	var e *Error
	if _, err := c.PostHost(ctx, []HostValue{{host, Value{"custom.a", 1, 1}}}); !errors.As(err, &e) || e.Status != 429 || s.Requests() != 1 {
		t.Errorf("%d requests, %v", s.Requests(), err)
	}
	for in, want := range map[string]time.Duration{"": 0, "x": 0, "-1": 0, "7": 7 * time.Second, "99999999": longestWait} {
		if got := retryAfter(in); got != want {
			t.Errorf("%q asks for %s, want %s", in, got, want)
		}
	}
}

// TestKey: it is in no error and in no printed client.
func TestKey(t *testing.T) {
	_, c := start(t, Options{Key: "wrong-key"})
	_, refused := c.HostsNamed(t.Context(), "x")
	gone, err := New(Options{Key: mackereltest.Key, Base: "http://127.0.0.1:1/", Attempts: 1})
	if err != nil {
		t.Fatal(err)
	}
	_, unreachable := gone.HostsNamed(t.Context(), "x")
	if refused == nil || unreachable == nil {
		t.Fatalf("%v, %v", refused, unreachable)
	}
	for _, text := range []string{refused.Error(), unreachable.Error(), fmt.Sprintf("%v %+v %#v %s", c, c, c, gone)} {
		if strings.Contains(text, "wrong-key") || strings.Contains(text, mackereltest.Key) {
			t.Errorf("the key is in %q", text)
		}
		t.Log(text)
	}
	for _, o := range []Options{{}, {Key: "a b"}, {Key: "a\n"}, {Key: "k", Base: "http://api.example.com/"}, {Key: "k", Base: "x"}, {Key: "k", Base: "://"}} {
		if _, err := New(o); err == nil {
			t.Errorf("%+v is taken", o)
		}
	}
}

func TestName(t *testing.T) {
	f := func(in, want string) {
		t.Helper()
		if got := Name(in); got != want {
			t.Errorf("%q becomes %q, want %q", in, got, want)
		}
	}
	f("cpu0", "cpu0")
	f("GET /users/:id", "GET__users__id")
	f("10.0.0.1", "10_0_0_1")
	f("", "_")
	f("é\xff", "__")
}

// FuzzAnswer: whatever a server answers, an error is bounded and the client goes on.
func FuzzAnswer(f *testing.F) {
	f.Add(400, `{"error":{"message":"bad"}}`)
	f.Add(500, `{"error":"bad"}`)
	f.Add(403, "<html>\x00\xff")
	f.Add(404, `{"error":7}`)
	f.Fuzz(func(t *testing.T, code int, text string) {
		if m := messageOf([]byte(text)); utf8.RuneCountInString(m) > maxMessage || !utf8.ValidString(m) {
			t.Fatalf("a message of %d bytes", len(m))
		}
		e := &Error{Status: code, Request: "POST /", Message: messageOf([]byte(text))}
		if strings.ContainsAny(e.Error(), "\n\x00\x1b") {
			t.Fatalf("%q is not quoted", e.Error())
		}
		if name := Name(text); name == "" || strings.ContainsAny(name, ". /\n\"") {
			t.Fatalf("%q becomes the name %q", text, name)
		}
	})
}
