package mackerel

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"
)

const testKey = "sekrit-0123456789"

// A service is Mackerel's API as its documentation describes it, as strict as it can
// be: unknown keys, wrong types and names that it would refuse are answers 400.
type service struct {
	t        *testing.T
	failures []int // answered first, one each
	after    string

	mu          sync.Mutex
	requests    int
	host        []HostValue
	byService   map[string][]Value
	annotations []Annotation
}

var validName = regexp.MustCompile(`^[a-zA-Z0-9._-]+$`)

func (s *service) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests++
	if len(s.failures) > 0 {
		code := s.failures[0]
		s.failures = s.failures[1:]
		if code == 0 { // the connection breaks
			panic(http.ErrAbortHandler)
		}
		w.Header().Set("Retry-After", s.after)
		w.Header().Set("Location", "http://127.0.0.1:1/")
		s.refuse(w, code, "not now")
		return
	}
	if r.Header.Get("X-Api-Key") != testKey {
		s.refuse(w, 403, "Authentication failed. Please try with valid Api Key.")
		return
	}
	if r.Method == http.MethodPost && r.Header.Get("Content-Type") != "application/json" {
		s.refuse(w, 415, "content type")
		return
	}
	switch name, isService := strings.CutPrefix(r.URL.Path, "/api/v0/services/"); {
	case r.Method+r.URL.Path == "POST/api/v0/tsdb":
		s.hostMetrics(w, r)
	case r.Method == "POST" && isService && strings.HasSuffix(name, "/tsdb"):
		s.serviceMetrics(w, r, strings.TrimSuffix(name, "/tsdb"))
	case r.Method+r.URL.Path == "POST/api/v0/graph-annotations":
		s.annotate(w, r)
	case r.Method+r.URL.Path == "GET/api/v0/services":
		fmt.Fprint(w, `{"services":[{"name":"shop","memo":"","roles":["app"]}]}`)
	case r.Method+r.URL.Path == "GET/api/v0/hosts":
		if r.URL.Query().Get("name") != "web 1&x" {
			fmt.Fprint(w, `{"hosts":[]}`)
			return
		}
		fmt.Fprint(w, `{"hosts":[{"id":"2eQGEaLxibb","name":"web 1&x","status":"working","roles":{"shop":["app"]}}]}`)
	default:
		s.refuse(w, 404, "no such page")
	}
}

func (s *service) refuse(w http.ResponseWriter, code int, why string) {
	w.WriteHeader(code)
	json.NewEncoder(w).Encode(map[string]any{"error": map[string]string{"message": why}})
}

func (s *service) decode(w http.ResponseWriter, r *http.Request, out any) bool {
	d := json.NewDecoder(r.Body)
	d.DisallowUnknownFields()
	if err := d.Decode(out); err != nil || d.More() {
		s.refuse(w, 400, fmt.Sprint("bad JSON: ", err))
		return false
	}
	return true
}

func (s *service) hostMetrics(w http.ResponseWriter, r *http.Request) {
	var in []HostValue
	if !s.decode(w, r, &in) {
		return
	}
	for _, v := range in {
		if v.HostID == "" || !validName.MatchString(v.Name) || v.Time <= 0 {
			s.refuse(w, 400, "bad value")
			return
		}
	}
	s.host = append(s.host, in...)
	fmt.Fprint(w, `{"success":true}`)
}

func (s *service) serviceMetrics(w http.ResponseWriter, r *http.Request, name string) {
	var in []Value
	if !s.decode(w, r, &in) {
		return
	}
	if name != "shop" {
		s.refuse(w, 404, "service not found")
		return
	}
	for _, v := range in {
		if !validName.MatchString(v.Name) || v.Time <= 0 {
			s.refuse(w, 400, "bad value")
			return
		}
	}
	s.byService[name] = append(s.byService[name], in...)
	fmt.Fprint(w, `{"success":true}`)
}

func (s *service) annotate(w http.ResponseWriter, r *http.Request) {
	var a Annotation
	if !s.decode(w, r, &a) {
		return
	}
	switch {
	case a.Title == "" || utf8.RuneCountInString(a.Title) > 250 || utf8.RuneCountInString(a.Description) > 1024:
		s.refuse(w, 400, "title or description")
	case a.From > a.To || a.From <= 0:
		s.refuse(w, 400, "from after to")
	case a.Service != "shop":
		s.refuse(w, 404, "service not found")
	default:
		a.ID = fmt.Sprintf("an%d", len(s.annotations))
		s.annotations = append(s.annotations, a)
		json.NewEncoder(w).Encode(a)
	}
}

func start(t *testing.T, s *service, o Options) *Client {
	t.Helper()
	s.t, s.byService = t, map[string][]Value{}
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	o.Base, o.FirstWait = server.URL, time.Millisecond
	if o.Key == "" {
		o.Key = testKey
	}
	c, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestPost(t *testing.T) {
	s := &service{}
	c := start(t, s, Options{})
	values := make([]HostValue, 1201)
	for i := range values {
		values[i] = HostValue{"2eQGEaLxibb", Value{"custom.kasoku.a", int64(i + 1), float64(i)}}
	}
	values[7].Value.Value = math.NaN()
	n, err := c.PostHost(t.Context(), values)
	if err != nil || n != 1200 || len(s.host) != 1200 || s.requests != 3 {
		t.Errorf("%d posted in %d requests, %d arrived: %v", n, s.requests, len(s.host), err)
	}
	if s.host[1199] != values[1200] {
		t.Errorf("the last one is %+v", s.host[1199])
	}
	n, err = c.PostService(t.Context(), "shop", []Value{{"kasoku.load.requests", 1, 0}})
	if err != nil || n != 1 || s.byService["shop"][0] != (Value{"kasoku.load.requests", 1, 0}) {
		t.Errorf("%d posted, %v: %v", n, s.byService, err)
	}
	n, err = c.PostHost(t.Context(), nil)
	if n != 0 || err != nil {
		t.Errorf("nothing is %d, %v", n, err)
	}
	var e *Error
	if _, err = c.PostService(t.Context(), "shöp/..", []Value{{"a", 1, 1}}); !errors.As(err, &e) || e.Status != 404 || e.Hint() == "" {
		t.Errorf("an unknown service: %v", err)
	}
}

func TestAnnotate(t *testing.T) {
	s := &service{}
	c := start(t, s, Options{})
	id, err := c.Annotate(t.Context(), Annotation{Title: strings.Repeat("題", 300), Description: strings.Repeat("x", 2000), From: 100, To: 99, Service: "shop", Roles: []string{"app"}})
	if err != nil || id != "an0" {
		t.Fatalf("%q, %v", id, err)
	}
	if a := s.annotations[0]; a.To != 100 || !strings.HasSuffix(a.Title, "題…") || utf8.RuneCountInString(a.Title) != 250 {
		t.Errorf("%+v", a)
	}
}

func TestFind(t *testing.T) {
	c := start(t, &service{}, Options{})
	hosts, err := c.HostsNamed(t.Context(), "web 1&x")
	if err != nil || len(hosts) != 1 || hosts[0] != (Host{"2eQGEaLxibb", "web 1&x", "working"}) {
		t.Errorf("%+v, %v", hosts, err)
	}
	services, err := c.Services(t.Context())
	if err != nil || len(services) != 1 || services[0] != "shop" {
		t.Errorf("%v, %v", services, err)
	}
}

// TestRetry: what may pass is asked again, what is refused is not.
func TestRetry(t *testing.T) {
	f := func(failures []int, wantRequests int, ok bool) {
		t.Helper()
		s := &service{failures: failures}
		c := start(t, s, Options{Attempts: 4})
		_, err := c.PostHost(t.Context(), []HostValue{{"h", Value{"custom.a", 1, 1}}})
		if (err == nil) != ok || s.requests != wantRequests {
			t.Errorf("after %v: %d requests, %v", failures, s.requests, err)
		}
		if ok && len(s.host) != 1 {
			t.Errorf("after %v: %d values arrived", failures, len(s.host))
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
	s := &service{failures: []int{429}, after: "50"}
	c := start(t, s, Options{})
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	var e *Error
	if _, err := c.PostHost(ctx, []HostValue{{"h", Value{"custom.a", 1, 1}}}); !errors.As(err, &e) || e.Status != 429 || s.requests != 1 {
		t.Errorf("%d requests, %v", s.requests, err)
	}
	for in, want := range map[string]time.Duration{"": 0, "x": 0, "-1": 0, "7": 7 * time.Second, "99999999": longestWait} {
		if got := retryAfter(in); got != want {
			t.Errorf("%q asks for %s, want %s", in, got, want)
		}
	}
}

// TestKey: it is in no error and in no printed client.
func TestKey(t *testing.T) {
	c := start(t, &service{}, Options{Key: "wrong-key"})
	_, refused := c.HostsNamed(t.Context(), "x")
	gone, err := New(Options{Key: testKey, Base: "http://127.0.0.1:1/", Attempts: 1})
	if err != nil {
		t.Fatal(err)
	}
	_, unreachable := gone.HostsNamed(t.Context(), "x")
	if refused == nil || unreachable == nil {
		t.Fatalf("%v, %v", refused, unreachable)
	}
	for _, text := range []string{refused.Error(), unreachable.Error(), fmt.Sprintf("%v %+v %#v %s", c, c, c, gone)} {
		if strings.Contains(text, "wrong-key") || strings.Contains(text, testKey) {
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
		if m := message([]byte(text)); utf8.RuneCountInString(m) > maxMessage || !utf8.ValidString(m) {
			t.Fatalf("a message of %d bytes", len(m))
		}
		e := &Error{Status: code, Request: "POST /", Message: message([]byte(text))}
		if strings.ContainsAny(e.Error(), "\n\x00\x1b") {
			t.Fatalf("%q is not quoted", e.Error())
		}
		if name := Name(text); !validName.MatchString(name) {
			t.Fatalf("%q becomes the name %q", text, name)
		}
	})
}
