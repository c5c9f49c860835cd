package serve_test

import (
	"bufio"
	"context"
	"crypto/tls"
	"encoding/json"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/serve"
	"github.com/kasoku/kasoku/store"
)

// TestPages: each page is there, says what a report of the run says, and has nothing inline.
func TestPages(t *testing.T) {
	h := handler(options(write(t, newRun("before", 3, 5), newRun("after", 3, 5))))
	for _, x := range []struct {
		target string
		code   int
		want   []string
	}{
		{"/", 200, []string{`data-key="r=before"`, `data-key="r=after"`}},
		{"/runs/before", 200, []string{"<h1>", "t0 is read without an index", `data-run="before"`, `data-length="40"`,
			"GET /r2"}},
		{"/runs/before/part?t=3-9", 200, []string{"GET /r0", `id="queries"`}},
		{"/runs/before/part?t=20-30&b=0-10", 200, []string{"GET /r0", `data-v="0.01"`, `data-v="0.1"`}},
		{"/runs/before/focus?e=web+GET+/r0", 200, []string{"select * from t0 where id = ?",
			"t0 is read without an index"}},
		{"/compare?a=before&b=after", 200, []string{"before", "after"}},
		{"/live", 200, []string{"No run is being recorded."}},
		{"/runs/befor", 404, []string{"befor", "there is before"}},
		{"/runs/..%2fbefore", 404, nil},
		{"/runs/before/part?t=9-3", 400, []string{"9-3"}},
		{"/runs/before/part?t=1e999-3", 400, nil},
		{"/runs/before/part?t=50-60", 400, []string{"40s long"}},
		{"/runs/before/focus?e=nothing", 400, nil},
		{"/compare?a=before", 404, nil},
		{"/nothing", 404, []string{"/nothing"}},
		{"/assets/nothing.js", 404, nil},
	} {
		code, page := get(t, h, x.target)
		if code != x.code {
			t.Errorf("%s: %d, want %d: %s", x.target, code, x.code, page)
		}
		for _, want := range x.want {
			if !strings.Contains(page, want) {
				t.Errorf("%s lacks %q:\n%s", x.target, want, page)
			}
		}
		if strings.Contains(page, " style=") || strings.Contains(page, "<style") || strings.Contains(page, "<script>") {
			t.Errorf("%s has something inline", x.target)
		}
	}
}

// TestPart: the figures of a stretch are those of its seconds alone, and a difference has both.
func TestPart(t *testing.T) {
	h := handler(options(write(t, newRun("run", 2, 5))))
	for stretch, p99 := range map[string]string{"0-20": `data-v="0.01"`, "20-40": `data-v="0.1"`} {
		_, page := get(t, h, "/runs/run/part?t="+stretch)
		rows := strings.SplitAfter(section(t, page, "endpoints"), "</tr>")
		if !strings.Contains(rows[1], "GET /r0") || !strings.Contains(rows[1], p99) || !strings.Contains(rows[1],
			`data-v="100"`) {
			t.Errorf("%s: %s", stretch, rows[1])
		}
	}
	_, page := get(t, h, "/runs/run/part?t=20-40&b=0-20")
	if rows := section(t, page, "endpoints"); !strings.Contains(rows, `data-v="0.01"`) || !strings.Contains(rows,
		`data-v="0.1"`) {
		t.Errorf("the difference has not both: %s", rows)
	}
}

// TestHostileRun: what strangers put into a run stands in the pages as text.
func TestHostileRun(t *testing.T) {
	h := handler(options(write(t, newHostileRun())))
	for _, target := range []string{"/", "/runs/hostile", "/runs/hostile/part?t=0-20",
		"/runs/hostile/focus?e=" + url.QueryEscape("web GET "+hostile+"0"), "/compare?a=hostile&b=hostile",
		"/runs/" + url.PathEscape(hostile), "/runs/hostile/part?t=" + url.QueryEscape(hostile)} {
		_, page := get(t, h, target)
		for _, bad := range []string{"<img", "<script>", "onerror=\"", "\u202e", "\x1b"} {
			if strings.Contains(page, bad) {
				t.Errorf("%s has %q in it:\n%s", target, bad, page)
			}
		}
	}
}

// TestWhoMayAsk: nothing is answered without the token, by another host's name, or to another site's page.
func TestWhoMayAsk(t *testing.T) {
	o := options(write(t, newRun("run", 1, 1)))
	o.Note = func(string, string) error { return nil }
	h := handler(o)
	ask := func(change func(r *http.Request)) *httptest.ResponseRecorder {
		r := httptest.NewRequest(http.MethodGet, "/runs/run", nil)
		r.Host = "127.0.0.1:9797"
		r.AddCookie(&http.Cookie{Name: "kasoku", Value: token})
		change(r)
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		return w
	}
	post := func(r *http.Request) {
		r.Method, r.URL.Path = http.MethodPost, "/api/v1/runs/run/note"
		r.Body = http.NoBody
		r.PostForm = url.Values{"note": {"x"}}
		r.Form = r.PostForm
	}
	for name, x := range map[string]struct {
		change func(r *http.Request)
		code   int
	}{
		"by cookie":            {func(*http.Request) {}, 200},
		"without a token":      {func(r *http.Request) { r.Header.Del("Cookie") }, 401},
		"with another token":   {func(r *http.Request) { r.Header.Set("Cookie", "kasoku=0123456789abcdee") }, 401},
		"by another name":      {func(r *http.Request) { r.Host = "evil.example:9797" }, 403},
		"token in the address": {func(r *http.Request) { r.URL.RawQuery = "token=" + token + "&t=1-2" }, 303},
		"wrong token in it":    {func(r *http.Request) { r.Header.Del("Cookie"); r.URL.RawQuery = "token=x" }, 401},
		"a change":             {post, 204},
		"of another site":      {func(r *http.Request) { post(r); r.Header.Set("Sec-Fetch-Site", "cross-site") }, 403},
		"of another origin":    {func(r *http.Request) { post(r); r.Header.Set("Origin", "http://evil.example") }, 403},
		"by another method":    {func(r *http.Request) { r.Method = http.MethodDelete }, 404},
	} {
		w := ask(x.change)
		if w.Code != x.code {
			t.Errorf("%s: %d, want %d", name, w.Code, x.code)
		}
		if w.Header().Get("Content-Security-Policy") == "" || w.Header().Get("X-Content-Type-Options") != "nosniff" {
			t.Errorf("%s: an answer without a policy", name)
		}
	}
	w := ask(func(r *http.Request) {
		r.Header.Del("Cookie")
		r.URL.Path = "//evil.example"
		r.URL.RawQuery = "token=" + token
	})
	if to := w.Header().Get("Location"); w.Code != 303 || strings.HasPrefix(to, "//") || strings.Contains(to, "token") {
		t.Errorf("led to %q", to)
	}
	cookie := w.Header().Get("Set-Cookie")
	for _, part := range []string{"HttpOnly", "SameSite=Strict", "kasoku=" + token} {
		if !strings.Contains(cookie, part) {
			t.Errorf("the cookie is %q", cookie)
		}
	}
}

// TestChanges: a server that allows nothing changes nothing, and one that allows it changes the file.
func TestChanges(t *testing.T) {
	dir := write(t, newRun("run", 1, 1))
	file := filepath.Join(dir, "run"+store.Extension)
	send := func(h http.Handler, what, key, value string) (int, string) {
		r := httptest.NewRequest(http.MethodPost, "/api/v1/runs/run/"+what,
			strings.NewReader(url.Values{key: {value}}.Encode()))
		r.Host = "localhost"
		r.Header.Set("Authorization", "Bearer "+token)
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		return w.Code, w.Body.String()
	}
	o := options(dir)
	for _, what := range []string{"note", "score"} {
		if code, body := send(handler(o), what, what, "1"); code != 403 || !strings.Contains(body, "--allow") {
			t.Errorf("%s: %d %s", what, code, body)
		}
	}
	o.Note = func(path, text string) error {
		return edited(path, func(e *store.Editor) error { return e.SetNote(text) })
	}
	o.Score = func(path string, v *float64) error {
		return edited(path, func(e *store.Editor) error { return e.SetScore(&kasoku.Score{Value: *v}) })
	}
	h := handler(o)
	if code, body := send(h, "note", "note", hostile); code != 204 {
		t.Errorf("%d %s", code, body)
	}
	if code, body := send(h, "score", "score", "12,345"); code != 204 {
		t.Errorf("%d %s", code, body)
	}
	for _, bad := range []string{"12,5", "1.5,7", "many", "NaN", "Inf"} {
		if code, _ := send(h, "score", "score", bad); code != 400 {
			t.Errorf("score %q: %d", bad, code)
		}
	}
	if code, _ := send(h, "note", "other", "x"); code != 400 {
		t.Errorf("without a note: %d", code)
	}
	if code, _ := send(h, "note", "note", strings.Repeat("x", 1<<20)); code != 400 {
		t.Errorf("a note of a MiB: %d", code)
	}
	info := store.Describe(file)
	if info.Note != hostile || info.Score == nil || info.Score.Value != 12345 {
		t.Errorf("the run has note %q, score %v", info.Note, info.Score)
	}
	if _, page := get(t, h, "/runs/run"); !strings.Contains(page, "12345") {
		t.Error("the page has the score of before")
	}
}

func edited(path string, change func(*store.Editor) error) error {
	e, err := store.Edit(path)
	if err != nil {
		return err
	}
	err = change(e)
	if closed := e.Close(); err == nil {
		err = closed
	}
	return err
}

// TestJSON: the answers are those of the commands, and what cannot be answered says why.
func TestJSON(t *testing.T) {
	h := handler(options(write(t, newRun("before", 2, 5), newRun("after", 2, 5))))
	for target, kind := range map[string]string{"/api/v1/runs": "list", "/api/v1/runs/before": "run",
		"/api/v1/runs/before?from=3&to=9": "part", "/api/v1/runs/before?from=3": "part",
		"/api/v1/compare?a=before&b=after": "compare"} {
		code, body := get(t, h, target)
		var got struct{ Kind string }
		if err := json.Unmarshal([]byte(body), &got); err != nil || code != 200 || got.Kind != kind {
			t.Errorf("%s: %d, kind %q, %v", target, code, got.Kind, err)
		}
	}
	code, body := get(t, h, "/api/v1/runs/nothing")
	var problem struct {
		Status       int
		Detail, Hint string
	}
	if err := json.Unmarshal([]byte(body), &problem); err != nil || code != 404 || problem.Status != 404 ||
		problem.Hint == "" {
		t.Errorf("%d %s", code, body)
	}
}

// TestOpenAPI: the document lists the addresses that there are, and no others.
func TestOpenAPI(t *testing.T) {
	h := handler(options(write(t, newRun("run", 1, 1))))
	_, body := get(t, h, "/api/v1/openapi.json")
	var doc struct {
		OpenAPI string
		Paths   map[string]map[string]any
	}
	if err := json.Unmarshal([]byte(body), &doc); err != nil || !strings.HasPrefix(doc.OpenAPI, "3.") {
		t.Fatalf("%v: %s", err, body)
	}
	want := []string{"/api/v1/runs", "/api/v1/runs/{name}", "/api/v1/compare", "/api/v1/events", "/api/v1/openapi.json",
		"/api/v1/runs/{name}/note", "/api/v1/runs/{name}/score", "/api/v1/marks", "/api/v1/start",
		"/api/v1/stop", "/api/group/collect"}
	if len(doc.Paths) != len(want) {
		t.Errorf("%d paths, want %d", len(doc.Paths), len(want))
	}
	for _, path := range want {
		for method := range doc.Paths[path] {
			if method == "parameters" {
				continue
			}
			r := httptest.NewRequest(strings.ToUpper(method), strings.ReplaceAll(path, "{name}",
				"run")+"?a=run&b=run", nil)
			r.Host = "localhost"
			r.Header.Set("Authorization", "Bearer "+token)
			if path == "/api/v1/events" {
				continue // it has no end
			}
			w := httptest.NewRecorder()
			h.ServeHTTP(w, r)
			if w.Code == 404 || w.Code == 405 {
				t.Errorf("%s %s: %d", method, path, w.Code)
			}
		}
		if len(doc.Paths[path]) == 0 {
			t.Errorf("the document lacks %s", path)
		}
	}
}

// TestEvents: a run that begins, goes on and ends is news, and no one looks when no one wants to know.
func TestEvents(t *testing.T) {
	dir := t.TempDir()
	base := serving(t, options(dir))
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, base+"/api/v1/events", nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+token)
	answer, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	if kind := answer.Header.Get("Content-Type"); kind != "text/event-stream" {
		t.Fatalf("%d %s", answer.StatusCode, kind)
	}
	lines := bufio.NewScanner(answer.Body)
	await := func(want ...string) {
		t.Helper()
		for _, w := range want {
			for {
				if !lines.Scan() {
					t.Fatalf("the events ended before %q: %v", w, lines.Err())
				}
				if strings.HasPrefix(lines.Text(), w) {
					break
				}
			}
		}
	}
	await("retry:")
	file := filepath.Join(dir, "live"+store.Extension)
	w, err := store.Create(file, kasoku.Run{ID: "live", Started: time.Now()})
	if err != nil {
		t.Fatal(err)
	}
	await("event: runs")
	if err := w.SaveRun(kasoku.Run{ID: "live", Started: time.Now(), State: kasoku.Running,
		Note: "further"}); err != nil {
		t.Fatal(err)
	}
	await("event: second", `data: {"run":"live"`)
	if err := w.Finish(kasoku.Run{ID: "live", Started: time.Now(), State: kasoku.Finished}); err != nil {
		t.Fatal(err)
	}
	await("event: runs")
}

// A fakeStarter counts how often it is asked.
type fakeStarter struct{ started, stopped int }

func (f *fakeStarter) Start(label, note string) error {
	if f.started++; f.started > 2 {
		return serve.ErrBusy
	}
	return nil
}

func (f *fakeStarter) Stop() { f.stopped++ }

func (f *fakeStarter) Wait() {}

func (f *fakeStarter) State() (busy bool, ended string) { return f.started > 0, "exit status 3" }

// TestStart: a run begins where that is allowed, by a button or a webhook, and no other site's page begins one.
func TestStart(t *testing.T) {
	o := options(write(t, newRun("run", 1, 1)))
	ask := func(method, target, body string, change func(r *http.Request)) int {
		r := httptest.NewRequest(method, target, strings.NewReader(body))
		r.Host = "localhost"
		r.Header.Set("Authorization", "Bearer "+token)
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		if change != nil {
			change(r)
		}
		w := httptest.NewRecorder()
		handler(o).ServeHTTP(w, r)
		return w.Code
	}
	for _, target := range []string{"POST /api/v1/start", "POST /api/v1/stop", "GET /api/group/collect"} {
		method, path, _ := strings.Cut(target, " ")
		if code := ask(method, path, "", nil); code != 403 {
			t.Errorf("%s on a server that does not allow it: %d", target, code)
		}
	}
	f := &fakeStarter{}
	o.Starter = f
	other := func(r *http.Request) { r.Header.Set("Sec-Fetch-Site", "cross-site") }
	for _, x := range []struct {
		method, target, body string
		change               func(*http.Request)
		code, started        int
	}{
		{"GET", "/api/group/collect", "", other, 403, 0},
		{"POST", "/api/v1/start", "", other, 403, 0},
		{"POST", "/api/v1/start", "label=--config%3D%2Fetc%2Fpasswd", nil, 400, 0},
		{"POST", "/api/v1/start", "label=..%2F..%2Fx", nil, 400, 0},
		{"POST", "/api/v1/start", "label=index&note=on+orders", nil, 202, 1},
		{"GET", "/api/group/collect", "", nil, 200, 2},
		{"POST", "/api/v1/start", "", nil, 409, 3},
		{"GET", "/api/v1/start", "", nil, 404, 3},
	} {
		if code := ask(x.method, x.target, x.body, x.change); code != x.code || f.started != x.started {
			t.Errorf("%s %s %q: %d and begun %d times, want %d and %d", x.method, x.target, x.body, code, f.started,
				x.code, x.started)
		}
	}
	if code := ask("POST", "/api/v1/stop", "", nil); code != 202 || f.stopped != 1 {
		t.Errorf("stop: %d, %d", code, f.stopped)
	}
	if _, page := get(t, handler(o), "/"); !strings.Contains(page, "stop the run") || !strings.Contains(page,
		"exit status 3") {
		t.Error("the page does not say how it stands")
	}
}

// TestTLS: pages and events are sent by HTTP/2, too, which every browser speaks by TLS.
func TestTLS(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	lent := httptest.NewTLSServer(http.NotFoundHandler()) // its certificate
	defer lent.Close()
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error, 1)
	secure := &tls.Config{Certificates: lent.TLS.Certificates, NextProtos: []string{"h2", "http/1.1"}}
	go func() { done <- serve.New(options(write(t, newRun("run", 1, 1)))).Serve(ctx, l, secure) }()
	trusted := lent.Client().Transport.(*http.Transport).TLSClientConfig.RootCAs
	client := &http.Transport{ForceAttemptHTTP2: true, TLSClientConfig: &tls.Config{RootCAs: trusted}}
	for _, path := range []string{"/runs/run", "/api/v1/runs", "/api/v1/events"} {
		r, err := http.NewRequestWithContext(ctx, http.MethodGet, "https://"+l.Addr().String()+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer "+token)
		answer, err := client.RoundTrip(r)
		if err != nil {
			t.Fatal(err)
		}
		line, err := bufio.NewReader(answer.Body).ReadString('\n')
		if answer.StatusCode != 200 || answer.ProtoMajor != 2 || err != nil || line == "" {
			t.Errorf("%s: %s by %s, %q, %v", path, answer.Status, answer.Proto, line, err)
		}
		if err := answer.Body.Close(); err != nil {
			t.Error(err)
		}
	}
	client.CloseIdleConnections()
	stop()
	if err := <-done; err != nil {
		t.Error(err)
	}
}

// TestOddNames: files that no address can name are left out, whatever they hold.
func TestOddNames(t *testing.T) {
	dir := write(t, newRun("good", 1, 1))
	for _, name := range []string{"a,b", "..", "", "tu\u202ern", "line\nbreak", "\xff"} {
		if err := store.Copy(filepath.Join(dir, "good"+store.Extension), filepath.Join(dir, name+store.Extension)); err != nil {
			t.Fatal(err)
		}
	}
	_, page := get(t, handler(options(dir)), "/")
	if n := strings.Count(page, "data-key="); n != 1 {
		t.Errorf("%d runs are listed:\n%s", n, page)
	}
}

// TestStyleInARoute: what a stranger's text looks like in a template stays as it is.
func TestStyleInARoute(t *testing.T) {
	rec := newRun("run", 1, 1)
	rec.Endpoints[0].Route = `/x style="color:red" style=`
	rec.Run.Note = "A\x1b["
	h := handler(options(write(t, rec)))
	_, page := get(t, h, "/runs/run")
	if !strings.Contains(page, `data-key="e=web GET /x style=&#34;color:red&#34; style="`) || !strings.Contains(page, "A[<") {
		t.Errorf("the page has other texts:\n%s", page)
	}
	if code, _ := get(t, h, "/runs/run/focus?e="+url.QueryEscape("web GET "+rec.Endpoints[0].Route)); code != 200 {
		t.Errorf("its drawer: %d", code)
	}
}
