package answers

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/kasoku/kasoku/load"
	"github.com/kasoku/kasoku/logs/lines"
)

// A site is a real server whose answers can be changed.
type site struct {
	*httptest.Server
	answer atomic.Pointer[http.HandlerFunc]
}

func newSite(t *testing.T, h http.HandlerFunc) *site {
	t.Helper()
	s := &site{}
	s.answer.Store(&h)
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { (*s.answer.Load())(w, r) }))
	t.Cleanup(s.Close)
	return s
}

func (s *site) now(h http.HandlerFunc) { s.answer.Store(&h) }

func sends(kind, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", kind)
		fmt.Fprint(w, body)
	}
}

// asker asks without a pause: the servers of these tests differ by their count of
// requests, not by the clock.
func asker() *Asker { return &Asker{Pause: time.Nanosecond} }

func golden(t *testing.T, s *site, paths ...string) *Recorded {
	t.Helper()
	var requests []Request
	for _, p := range paths {
		r, err := ParseRequest("GET " + s.URL + p)
		if err != nil {
			t.Fatal(err)
		}
		requests = append(requests, r)
	}
	a := asker()
	defer a.Close()
	out, err := a.Record(t.Context(), requests)
	if err != nil {
		t.Fatal(err)
	}
	// What is checked is what the file has.
	var text bytes.Buffer
	if err := out.Golden.Write(&text); err != nil {
		t.Fatal(err)
	}
	if out.Golden, err = Parse(text.Bytes()); err != nil {
		t.Fatalf("%v in\n%s", err, text.String())
	}
	return out
}

// differs checks what check says of golden answers, in its order.
func differs(t *testing.T, g *Golden, want ...string) {
	t.Helper()
	a := asker()
	defer a.Close()
	got, err := a.Check(t.Context(), g)
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for _, d := range got.Differences {
		lines = append(lines, d.String())
	}
	if !slices.Equal(lines, want) {
		t.Errorf("got\n %s\nwant\n %s", strings.Join(lines, "\n "), strings.Join(want, "\n "))
	}
}

// TestDefects: each kind of defect is named, and the same answer is the same.
func TestDefects(t *testing.T) {
	t.Parallel()
	list := func(n int, item func(i int) string) string {
		var all []string
		for i := range n {
			all = append(all, item(i))
		}
		return "[" + strings.Join(all, ",") + "]"
	}
	row := func(i int) string { return fmt.Sprintf(`{"id":%d,"price":"%d","tags":["a","b"]}`, i, 100+i) }
	const kind = "application/json"
	f := func(kind, before, after string, want ...string) {
		t.Helper()
		s := newSite(t, sends(kind, before))
		g := golden(t, s, "/notifications").Golden
		differs(t, g)
		s.now(sends(kind, after))
		differs(t, g, want...)
	}
	swapped := func(i int) string {
		if i < 37 { // of which the one in the middle stays
			i = 36 - i
		}
		return row(i)
	}
	f(kind, list(100, row), list(100, swapped), "GET /notifications now comes in another order (36 of 100)")
	f(kind, `{"items":`+list(9, row)+`}`, `{"items":`+list(9, func(i int) string { return row(8 - i) })+`}`, "GET /notifications: items now comes in another order (8 of 9)")
	f(kind, `{"items":`+list(30, row)+`}`, `{"items":`+list(30, func(i int) string { return fmt.Sprintf(`{"id":%d,"price":%d,"tags":["a","b"]}`, i, 100+i) })+`}`,
		"GET /notifications: items[].price: number, was text (30 times)")
	f(kind, list(30, row), list(28, row), "GET /notifications: 2 of 30 elements are missing")
	f(kind, list(30, row), list(29, func(i int) string { return row(i + 1) }), "GET /notifications: 1 of 30 elements is missing")
	f(kind, list(3, row), list(4, row), "GET /notifications: 1 element more than the 3 there were")
	f(kind, `["a","b","c"]`, `["c","a","b"]`, "GET /notifications now comes in another order (3 of 3)")
	f(kind, `{"n":1,"m":{"a.b":true}}`, `{"n":2,"m":{}}`, `GET /notifications: m."a.b" is missing`, "GET /notifications: n: 2, was 1")
	f(kind, `{"n":1}`, `{"n":null,"x":[]}`, "GET /notifications: n: null, was number", "GET /notifications: x is new")
	f(kind, `{"a":1,"b":2.50}`, `{"b":2.5,"a":1.0}`)
	f(kind, `{"n":9007199254740993}`, `{"n":9007199254740992}`, "GET /notifications: n: 9007199254740992, was 9007199254740993")
	f("text/plain; charset=utf-8", "a\nb\nc\n", "a\nc\nd\n", "GET /notifications: lines: 1 of 3 elements is missing", "GET /notifications: lines: 1 element more than the 3 there were")
	f("text/html", "<ul><li>a<li>b</ul>", "<ul><li>b<li>a</ul>", "GET /notifications: text>ul>li now comes in another order (2 of 2)")
	f("image/png", "\x89PNG1", "\x89PNG2", "GET /notifications: the body differs")
	f(kind, "{", "[", "GET /notifications: the body differs") // no JSON, whatever it says
}

func TestHeadOfAnswers(t *testing.T) {
	t.Parallel()
	s := newSite(t, func(w http.ResponseWriter, _ *http.Request) {
		http.SetCookie(w, &http.Cookie{Name: "session", Value: "s3cret"})
		w.Header().Set("Cache-Control", "private")
		http.Redirect(w, &http.Request{Method: "GET", URL: nil}, "http://127.0.0.1/a", http.StatusFound)
	})
	g := golden(t, s, "/go").Golden
	var text bytes.Buffer
	if err := g.Write(&text); err != nil || strings.Contains(text.String(), "s3cret") {
		t.Errorf("%v, and the file is\n%s", err, text.String())
	}
	s.now(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		w.Header().Set("Location", "http://127.0.0.1/b")
		w.WriteHeader(http.StatusFound)
		fmt.Fprint(w, "<a href=\"http://127.0.0.1/a\">Found</a>.\n\n")
	})
	differs(t, g, "GET /go: cookies: 1 of 1 element is missing", "GET /go: header.Cache-Control is missing",
		`GET /go: header.Location: "http://127.0.0.1/b", was "http://127.0.0.1/a"`)
	s.now(func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "oops", http.StatusInternalServerError) })
	differs(t, g, "GET /go: status 500, was 302")
	s.now(func(w http.ResponseWriter, _ *http.Request) {
		c, _, err := http.NewResponseController(w).Hijack()
		if err == nil {
			_ = c.Close()
		}
	})
	a := asker()
	got, err := a.Check(t.Context(), g)
	if err != nil || len(got.Differences) != 1 || !strings.HasPrefix(got.Differences[0].String(), "GET /go: no answer, was 302 (") {
		t.Errorf("%v %+v", err, got)
	}
}

// TestVolatile: what differs between asks is left out by its path, and nothing else.
func TestVolatile(t *testing.T) {
	t.Parallel()
	var n atomic.Int64
	page := func(price int) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			at := n.Add(1)
			switch r.URL.Path {
			case "/json":
				w.Header().Set("Content-Type", "application/json")
				fmt.Fprintf(w, `{"at":%d,"token":"t%d","items":[{"id":%d,"seen":%d,"price":%d},{"id":7,"seen":%d,"price":2}],"mixed":[%d,"x"]}`, at, at, 5, at, price, at, at)
			case "/html":
				w.Header().Set("Content-Type", "text/html")
				fmt.Fprintf(w, `<form><input type=hidden name=csrf value=%d></form><table><tr><td>%d<td>%d</table>`, at, price, at)
			case "/text":
				w.Header().Set("Content-Type", "text/plain")
				fmt.Fprintf(w, "price %d\nrequests %d\n", price, at)
			}
		}
	}
	s := newSite(t, page(1))
	g := golden(t, s, "/json", "/html", "/text").Golden
	var paths []string
	for _, a := range g.Answers {
		for _, v := range a.Volatile {
			paths = append(paths, v.Path+" "+v.What)
		}
	}
	want := []string{"body json.at value", "body json.items[].seen value", "body json.mixed elements", "body json.token value",
		"body html.text>form>input#csrf@value[] value", "body html.text>table>tr>td2[] value", "body lines.lines elements"}
	if !slices.Equal(paths, want) {
		t.Errorf("volatile are\n %s\nwant\n %s", strings.Join(paths, "\n "), strings.Join(want, "\n "))
	}
	differs(t, g)
	s.now(page(3))
	differs(t, g, `GET /html: text>table>tr>td1[]: "3", was "1"`,
		"GET /json: items[].price: 3, was 1", "GET /text: lines: 1 of 1 element is missing")
}

// TestAside: how long a page took is left out where it was the same by chance, as most pages show that it moves; a
// price is compared.
func TestAside(t *testing.T) {
	t.Parallel()
	asks := atomic.Int64{}
	page := func(took string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			n := asks.Add(1)
			mine, price := took, "9 EUR"
			if mine == "" && r.URL.Path != "/home" && r.URL.Path != "/price" { // what moves in most pages
				mine = fmt.Sprint(n)
			} else if mine == "" {
				mine = "2"
			}
			if r.URL.Path == "/price" {
				price = took + "7 EUR"
			}
			w.Header().Set("Content-Type", "text/html")
			fmt.Fprintf(w, "<main><b>%s</b></main><footer><b>by us</b><b>%sms</b></footer>", price, mine)
		}
	}
	s := newSite(t, page(""))
	paths := []string{"/a", "/b", "/c", "/home", "/price"}
	g := golden(t, s, paths...).Golden
	differs(t, g)
	s.now(page("3"))
	differs(t, g, `GET /price: text>main>b[]: "37 EUR", was "7 EUR"`)

	// Of pages alone of their kind nothing is known.
	one := golden(t, newSite(t, page("")), "/a", "/home").Golden
	if n := len(one.Answers[1].Volatile); n != 0 {
		t.Errorf("%d places of /home are volatile", n)
	}
}

// TestConcurrency: what differs only with other requests under way is volatile when
// recorded so, and said so when it is new.
func TestConcurrency(t *testing.T) {
	t.Parallel()
	var under, reached atomic.Int64
	gate := make(chan struct{})
	// Of the requests that come at once the answer says that they are several.
	racy := func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		alone := under.Add(1) == 1
		defer under.Add(-1)
		if reached.Add(1) > 2 { // the first ask and the second are alone by the client's doing
			select {
			case gate <- struct{}{}:
				alone = false
			case <-gate:
				alone = false
			case <-r.Context().Done():
			}
		}
		fmt.Fprintf(w, `{"alone":%v,"n":1}`, alone)
	}
	s := newSite(t, racy)
	out := golden(t, s, "/race")
	a := out.Golden.Answers[0]
	if len(a.Volatile) != 1 || a.Volatile[0] != (Volatile{"body json.alone", ofValue, true}) {
		t.Errorf("%+v, left %+v", a.Volatile, out.Left)
	}
	// Recorded from a sound service, checked when it has the race.
	s.now(sends("application/json", `{"alone":true,"n":1}`))
	g := golden(t, s, "/race", "/race?2").Golden
	var calls atomic.Int64
	both := make(chan struct{})
	s.now(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		n := calls.Add(1)
		if n == 3 {
			<-both // until the other one has come
		} else if n == 4 {
			close(both)
		}
		fmt.Fprintf(w, `{"alone":%v,"n":1}`, n < 3)
	})
	differs(t, g, "GET /race: alone: false, was true (2 times), in 2 of 2 answers, only with other requests under way")
}

// TestLeftOut: an answer that cannot be golden is left out with its reason.
func TestLeftOut(t *testing.T) {
	t.Parallel()
	var n atomic.Int64
	s := newSite(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/500":
			http.Error(w, "x", 500)
		case "/turns":
			if n.Add(1)%2 == 0 {
				http.Error(w, "x", 404)
			}
		}
	})
	out := golden(t, s, "/500", "/turns", "/fine")
	if len(out.Golden.Answers) != 1 || len(out.Left) != 2 || out.Left[0].Why != "it answers 500" || out.Left[1].Why != "it answers 200, and 404" {
		t.Errorf("%+v", out)
	}
}

// TestUnreachable: a service that is not there is no difference, and what is no one's own
// is not asked.
func TestUnreachable(t *testing.T) {
	t.Parallel()
	s := newSite(t, sends("text/plain", "a"))
	g := golden(t, s, "/a").Golden
	s.Close()
	a := asker()
	if got, err := a.Check(t.Context(), g); !errors.Is(err, ErrUnreachable) || got == nil || got.Answers != 0 || len(got.Differences) != 0 {
		t.Errorf("%v %+v", err, got)
	}
	var forbidden *load.ForbiddenError
	_, err := asker().Record(t.Context(), []Request{{Endpoint: "GET /", Method: "GET", URL: "http://192.0.2.1/"}})
	if !errors.As(err, &forbidden) {
		t.Errorf("%v", err)
	}
}

// TestInterrupted: what was asked often enough by then is returned.
func TestInterrupted(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var n atomic.Int64
	s := newSite(t, func(w http.ResponseWriter, r *http.Request) {
		if n.Add(1) == 4 { // two requests, twice
			defer cancel()
		}
		sends("text/plain", "a")(w, r)
	})
	a, _ := ParseRequest(s.URL + "/a")
	b, _ := ParseRequest(s.URL + "/b")
	out, err := asker().Record(ctx, []Request{a, b})
	if !errors.Is(err, context.Canceled) || len(out.Golden.Answers) < 1 || out.Golden.Answers[0].Endpoint != "GET /a" {
		t.Errorf("%v %+v", err, out)
	}
}

func TestFromTargets(t *testing.T) {
	header := http.Header{"Authorization": {"Bearer s3cret"}, "X-Api-Key": {"k"}, "Accept": {"text/html"}}
	out, left := FromTargets([]load.Target{
		{Method: "GET", URL: "http://127.0.0.1/a?b=1", Header: header}, {Method: "GET", URL: "http://127.0.0.1/a?b=1"},
		{Method: "POST", URL: "http://127.0.0.1/a"}, {Method: "GET", URL: "http://127.0.0.1/{{seq}}"}, {Method: "GET", URL: "http://127.0.0.1/c", Body: []byte("x")},
	})
	if len(out) != 1 || out[0].Endpoint != "GET /a" || fmt.Sprint(out[0].Header) != "map[Accept:[text/html]]" || fmt.Sprint(out[0].Withheld) != "[Authorization X-Api-Key]" {
		t.Errorf("%+v", out)
	}
	if len(left) != 3 || !strings.Contains(left[0].Why, "may change data") {
		t.Errorf("%+v", left)
	}
}

func TestReadAccessLog(t *testing.T) {
	var log strings.Builder
	line := func(method, uri string, status int) {
		fmt.Fprintf(&log, "time:2026-11-22T12:00:00+00:00\tmethod:%s\turi:%s\tstatus:%d\tsize:1\treqtime:0.1\n", method, uri, status)
	}
	line("POST", "/users/1", 200)
	line("GET", "/users/9", 404)
	for i := range 10 {
		line("GET", fmt.Sprintf("/users/%d", i%5), 200)
	}
	line("HEAD", "/", 204)
	line("GET", "http://elsewhere/", 200)
	got, err := ReadAccessLog(lines.NewReader(strings.NewReader(log.String()), 0), "http://127.0.0.1:8080/", 3, 100)
	var all []string
	for _, r := range got {
		all = append(all, r.Endpoint+" "+r.URL)
	}
	want := "GET /users/:id http://127.0.0.1:8080/users/0|GET /users/:id http://127.0.0.1:8080/users/1|GET /users/:id http://127.0.0.1:8080/users/2|HEAD / http://127.0.0.1:8080/"
	if err != nil || strings.Join(all, "|") != want {
		t.Errorf("%v\ngot  %s\nwant %s", err, strings.Join(all, "|"), want)
	}
}

// TestRecord_Bounded: of a service that sends more than is held, the first answers are kept
// and the rest is left out with the reason; so is an answer without end.
func TestRecord_Bounded(t *testing.T) {
	body := `"` + strings.Repeat("x", 4000) + `"`
	s := newSite(t, sends("application/json", body))
	var requests []Request
	for i := range 5 {
		r, err := ParseRequest(fmt.Sprint("GET ", s.URL, "/", i))
		if err != nil {
			t.Fatal(err)
		}
		requests = append(requests, r)
	}
	a := asker()
	a.InFlight, a.most = 1, 10_000
	defer a.Close()
	out, err := a.Record(t.Context(), requests)
	if err != nil || len(out.Golden.Answers) != 2 || len(out.Left) != 3 {
		t.Fatalf("%v: %d answers, left out %+v", err, len(out.Golden.Answers), out.Left)
	}
	if why := out.Left[0].Why; !strings.Contains(why, "as many bytes as are held") {
		t.Error(why)
	}
	s.now(sends("application/octet-stream", strings.Repeat("x", maxBody+1)))
	if out, err = a.Record(t.Context(), requests[:1]); err != nil || len(out.Left) != 1 || !strings.Contains(out.Left[0].Why, "longer than 16 MiB") {
		t.Fatalf("%v: %+v", err, out)
	}
}

// TestRequestShown: what is shown of a request has no secret.
func TestRequestShown(t *testing.T) {
	r := Request{Method: "GET", URL: "http://me:hunter2@127.0.0.1/a?token=hunter2&page=2"}
	if s := r.String(); strings.Contains(s, "hunter2") || !strings.Contains(s, "/a?") {
		t.Error(s)
	}
}

// TestReordered: what has the same elements in another order, and differs in nothing else, is
// known by that; the age that a cache gives an answer is, too.
func TestReordered(t *testing.T) {
	list := func(bodies map[string]string, age string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			if age != "" {
				w.Header().Set("Age", age)
			}
			fmt.Fprint(w, bodies[r.URL.Path])
		}
	}
	s := newSite(t, list(map[string]string{"/moved": `[{"id":1},{"id":2},{"id":3}]`, "/more": `[{"id":1},{"id":2}]`, "/same": `[1]`}, "0"))
	before := golden(t, s, "/moved", "/more", "/same")
	s.now(list(map[string]string{"/moved": `[{"id":3},{"id":1},{"id":2}]`, "/more": `[{"id":2},{"id":1},{"id":3}]`, "/same": `[1]`}, "12"))
	a := asker()
	defer a.Close()
	got, err := a.Check(t.Context(), before.Golden)
	if err != nil {
		t.Fatal(err)
	}
	if o := got.Reordered(); len(o) != 1 || o["GET /moved"] != "now comes in another order (3 of 3)" {
		t.Errorf("%v", o)
	}
	if len(got.Oldest) != 3 || got.Oldest["GET /same"] != 12*time.Second {
		t.Errorf("%v", got.Oldest)
	}
	s.now(list(map[string]string{"/moved": `[{"id":1},{"id":3},{"id":2}]`, "/more": `[{"id":1},{"id":2}]`, "/same": `[1]`}, ""))
	other := asker()
	defer other.Close()
	again, err := other.Check(t.Context(), before.Golden)
	if err != nil {
		t.Fatal(err)
	}
	a1, a2 := got.Sequences["GET /moved"], again.Sequences["GET /moved"]
	if a1.Requests != a2.Requests || a1.Elements != a2.Elements || a1.Order == a2.Order {
		t.Errorf("in another order: %x, %x", a1, a2)
	}
	if a1, a2 = got.Sequences["GET /more"], again.Sequences["GET /more"]; a1.Requests != a2.Requests || a1.Elements == a2.Elements {
		t.Errorf("other elements: %x, %x", a1, a2)
	}
	if a1, a2 = got.Sequences["GET /same"], again.Sequences["GET /same"]; a1 != a2 || a1.Order == 0 {
		t.Errorf("the same: %x, %x", a1, a2)
	}
	if host := strings.TrimPrefix(s.URL, "http://"); got.Bare["GET /same"] != host {
		t.Errorf("asked at %s: %v", host, got.Bare)
	}
}

// TestBare: an answer with a header by which it can be kept or asked for on condition is none without.
func TestBare(t *testing.T) {
	s := newSite(t, func(w http.ResponseWriter, r *http.Request) {
		if name := r.URL.Path[1:]; name != "none" {
			w.Header().Set(name, "x")
		}
		fmt.Fprint(w, "x")
	})
	a := asker()
	defer a.Close()
	got, err := a.Check(t.Context(), golden(t, s, "/none", "/ETag", "/Last-Modified", "/Cache-Control", "/Expires", "/Vary").Golden)
	if err != nil {
		t.Fatal(err)
	}
	for endpoint, host := range got.Bare {
		if want := endpoint == "GET /none" || endpoint == "GET /Vary"; (host != "") != want {
			t.Errorf("%s: %q", endpoint, host)
		}
	}
	if len(got.Bare) != 6 {
		t.Error(got.Bare)
	}
}

// TestFailedAnswers: answers that fail or have another status are counted apart: in which order
// they come is not known.
func TestFailedAnswers(t *testing.T) {
	answer := func(status int) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/broken" {
				w.WriteHeader(status)
			}
			fmt.Fprint(w, "[1]")
		}
	}
	s := newSite(t, answer(http.StatusOK))
	before := golden(t, s, "/same", "/broken")
	s.now(answer(http.StatusInternalServerError))
	a := asker()
	defer a.Close()
	if got, err := a.Check(t.Context(), before.Golden); err != nil || got.Answers != 2 || got.Failed != 1 {
		t.Errorf("%+v %v", got, err)
	}
}
