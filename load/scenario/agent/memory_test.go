package agent

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/kasoku/kasoku/load/scenario"
)

// A versioned server answers each path with a header, a body that names its
// version, and 304 when the version is still the same.
type versioned struct {
	mu      sync.Mutex
	header  http.Header
	version int
	asked   []string // conditions of the requests that came, "-" without
}

func (v *versioned) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	v.mu.Lock()
	defer v.mu.Unlock()
	etag := fmt.Sprintf(`"v%d"`, v.version)
	condition := r.Header.Get("If-None-Match")
	if condition == "" {
		condition = r.Header.Get("If-Modified-Since")
	}
	if condition == "" {
		condition = "-"
	}
	v.asked = append(v.asked, condition)
	for name, values := range v.header {
		w.Header()[name] = values
		if name == "Etag" {
			w.Header()[name] = []string{etag}
		}
	}
	if r.Method == "GET" && (condition == etag || condition == w.Header().Get("Last-Modified")) && condition != "" {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	fmt.Fprintf(w, "%s %d %s", r.URL, v.version, r.Header.Get("X-Kind"))
}

func TestConditional(t *testing.T) {
	v := &versioned{}
	a := open(t, Options{BaseURL: start(t, v.ServeHTTP)})
	f := func(name string, header http.Header, want ...string) {
		t.Helper()
		v.header, v.asked = header, nil
		path := "/" + strings.ReplaceAll(name, " ", "-")
		for _, w := range want {
			how, asked, _ := strings.Cut(w, " ")
			v.asked = nil
			res := get(t, a, path)
			if got := fmt.Sprintf("%s %d ", path, v.version); string(res.Body) != got || res.Status != 200 {
				t.Errorf("%s: got %d %q", name, res.Status, res.Body)
			}
			if res.NotModified != (how == "same") || res.Cached != (how == "fresh") {
				t.Errorf("%s: not modified %v, cached %v, want %s", name, res.NotModified, res.Cached, how)
			}
			if got := strings.Join(v.asked, " "); got != asked {
				t.Errorf("%s: asked %q, want %q", name, got, asked)
			}
			if res.Header.Get("Etag") != "" && header["Etag"] == nil {
				t.Errorf("%s: a header of another", name)
			}
			res.Release()
		}
	}
	const date = "Mon, 13 Jul 2026 09:00:00 GMT"
	f("nothing", nil, "new -", "new -")
	f("etag", http.Header{"Etag": {""}}, "new -", `same "v0"`, `same "v0"`)
	f("modified", http.Header{"Last-Modified": {date}}, "new -", "same "+date)
	f("fresh", http.Header{"Cache-Control": {"public, max-age=60"}}, "new -", "fresh", "fresh")
	f("fresh etag", http.Header{"Cache-Control": {`Max-Age="60"`}, "Etag": {""}}, "new -", "fresh")
	f("no-cache", http.Header{"Cache-Control": {"max-age=60", "no-cache"}, "Etag": {""}}, "new -", `same "v0"`)
	f("no-store", http.Header{"Cache-Control": {"max-age=60,no-store"}, "Etag": {""}}, "new -", "new -")
	f("stale", http.Header{"Cache-Control": {"max-age=0"}, "Etag": {""}}, "new -", `same "v0"`)
	f("bad age", http.Header{"Cache-Control": {"max-age=soon"}}, "new -", "new -")
	f("vary all", http.Header{"Vary": {"Accept, *"}, "Etag": {""}}, "new -", "new -")
	f("changed", http.Header{"Etag": {""}}, "new -", `same "v0"`)
	v.version = 1
	f("changed", http.Header{"Etag": {""}}, `new "v0"`, `same "v1"`)
	f("changed", http.Header{"Etag": {""}, "Cache-Control": {"max-age=60"}}, `same "v1"`, "fresh")

	v.header = http.Header{"Etag": {""}, "Cache-Control": {"max-age=60"}}
	get(t, a, "/posted")
	if !get(t, a, "/posted").Cached {
		t.Error("what is fresh was asked for")
	}
	do(t, a, &Request{Method: "POST", Path: "/posted"})
	if res := get(t, a, "/posted"); res.Cached || res.NotModified {
		t.Error("what was posted to is remembered")
	}

	v.header = http.Header{"Etag": {""}, "Vary": {"x-kind, Cookie"}}
	for _, step := range []struct {
		kind string
		same bool
	}{{"a", false}, {"a", true}, {"b", false}, {"b", true}, {"a", false}} {
		res := do(t, a, &Request{Path: "/vary", Header: http.Header{"X-Kind": {step.kind}}})
		if res.NotModified != step.same || !strings.HasSuffix(string(res.Body), " "+step.kind) {
			t.Errorf("kind %s: got %q, not modified %v", step.kind, res.Body, res.NotModified)
		}
	}

	v.header = http.Header{"Etag": {""}}
	get(t, a, "/own")
	res := do(t, a, &Request{Path: "/own", Header: http.Header{"If-None-Match": {`"v1"`}}})
	if res.Status != http.StatusNotModified || res.NotModified || len(res.Body) > 0 {
		t.Errorf("own condition: got %d %q", res.Status, res.Body)
	}

	without := open(t, Options{BaseURL: a.base.String(), NoCache: true})
	for range 2 {
		if res := get(t, without, "/without"); res.NotModified {
			t.Error("remembered")
		}
	}
}

// TestConditionalRecords: the record says 304, and there is none when nothing was
// sent.
func TestConditionalRecords(t *testing.T) {
	v := &versioned{header: http.Header{"Etag": {""}}}
	var codes []int
	a := open(t, Options{BaseURL: start(t, v.ServeHTTP), Record: func(r scenario.Record) { codes = append(codes, r.Code) }})
	get(t, a, "/")
	v.header.Set("Cache-Control", "max-age=60")
	get(t, a, "/")
	get(t, a, "/")
	if got := fmt.Sprint(codes); got != "[200 304]" {
		t.Errorf("got %s", got)
	}
}

// TestMemoryIsBounded: what was used least lately is forgotten.
func TestMemoryIsBounded(t *testing.T) {
	m := newMemory(10 * (overhead + 100))
	put := func(i, size int) bool {
		return m.put(&entry{url: fmt.Sprintf("/%03d", i), body: make([]byte, size-4)})
	}
	for i := range 1000 {
		if !put(i, 100) {
			t.Fatal("not kept")
		}
		if m.size > m.max || len(m.byURL) != m.recent.Len() || len(m.byURL) != min(i+1, 10) {
			t.Fatalf("%d bytes in %d entries", m.size, len(m.byURL))
		}
	}
	x := &call{method: "GET", uri: "/990", r: &Request{}}
	if m.find(x) == nil {
		t.Fatal("forgotten too early")
	}
	put(1000, 100)
	if m.find(x) == nil {
		t.Error("what was used last is forgotten first")
	}
	if put(990, 10_000) || m.find(x) != nil {
		t.Error("what is larger than all is kept, or the one before it")
	}
	for i := range 2000 {
		m.forget(fmt.Sprintf("/%03d", i))
	}
	if m.size != 0 || len(m.byURL) != 0 {
		t.Errorf("%d bytes in %d entries are left", m.size, len(m.byURL))
	}
}

func TestControl(t *testing.T) {
	f := func(s string, noStore bool, fresh time.Duration) {
		t.Helper()
		if got := readControl([]byte(s)); got != (control{noStore, fresh}) {
			t.Errorf("%q: got %+v", s, got)
		}
	}
	f("", false, 0)
	f("max-age=5", false, 5*time.Second)
	f(`public,MAX-AGE="5" , x=y`, false, 5*time.Second)
	f("max-age=5, no-cache", false, 0)
	f("no-store", true, 0)
	f("max-age=-5", false, 0)
	f("max-age=99999999999999999999", false, 0)
	f("max-age=9999999999", false, 24*time.Hour)
	f("s-maxage=7", false, 0)
}

// FuzzFields: what the agent acts on is what the header says.
func FuzzFields(f *testing.F) {
	f.Add([]byte("ETag: \"x\"\r\nVary: a\r\nVARY: b\r\nset-cookie: a=b\r\nLast-Modified: now\r\n"))
	f.Add([]byte("Content-Encoding:gzip\r\nCache-Control:\t max-age=5 \r\n\r\n:\r\nETag"))
	f.Fuzz(func(t *testing.T, lines []byte) {
		for _, b := range lines { // as parsers leave none alone
			if b == '\n' || b == '\r' {
				lines = []byte(strings.ReplaceAll(strings.NewReplacer("\r\n", "\x00", "\r", "", "\n", "").Replace(string(lines)), "\x00", "\r\n"))
				break
			}
		}
		got, h := readFields(lines), Header{lines}
		for name, value := range map[string][]byte{"Vary": got.vary, "Cache-Control": got.control, "Content-Encoding": got.encoding} {
			var want []string
			for _, v := range h.Values(name) {
				if len(want) > 0 || v != "" {
					want = append(want, v)
				}
			}
			if string(value) != strings.Join(want, ", ") {
				t.Errorf("%q: %s is %q, want %q", lines, name, value, want)
			}
		}
		if got.cookies != (h.Values("Set-Cookie") != nil) {
			t.Errorf("%q: cookies %v", lines, got.cookies)
		}
		if n := len(h.Values("ETag")); n == 1 && string(got.etag) != h.Get("Etag") {
			t.Errorf("%q: etag %q", lines, got.etag)
		}
		readControl(got.control)
	})
}
