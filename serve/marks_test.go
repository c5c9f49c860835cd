package serve_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/internal/test/browsertest"
	"github.com/kasoku/kasoku/serve"
)

// diagnosed is a run with findings of these objects.
func diagnosed(name string, started time.Time, objects ...string) *kasoku.Recording {
	r := newRun(name, 3, 1)
	r.Run.Started, r.Run.State = started, kasoku.Finished
	r.Diagnosis = &kasoku.Diagnosis{Rules: 9}
	for _, o := range objects {
		r.Diagnosis.Findings = append(r.Diagnosis.Findings, kasoku.Finding{ID: "IDX-01", Title: "No index of " + o,
			Object: kasoku.Object{Kind: "table", Name: o}, Cause: "rows are read", Fixes: []kasoku.Fix{{Text: "an index", Risk: kasoku.RiskNone}}})
	}
	return r
}

// TestSince: a run says what became of the findings of the one before.
func TestSince(t *testing.T) {
	at := time.Date(2026, 11, 20, 14, 0, 0, 0, time.UTC)
	other := diagnosed("other", at.Add(time.Hour), "s.c")
	other.Run.Project = "another"
	dir := write(t, diagnosed("first", at, "s.a", "s.b"), other, diagnosed("second", at.Add(2*time.Hour), "s.b", "s.c"))
	_, page := get(t, handler(options(dir)), "/runs/second")
	for _, want := range []string{`Since <a href="/compare?a=first&amp;b=second">first</a>: 1 new, 1 still there, 1 gone: <b>IDX-01</b> No index of s.a.`,
		"No index of s.b <small>still there</small>", "No index of s.c <small>new</small>", `data-finding="IDX-01 table s.b"`} {
		if !strings.Contains(page, want) {
			t.Errorf("no %s", want)
		}
	}
	if _, page := get(t, handler(options(dir)), "/runs/first"); strings.Contains(page, "class=\"since\"") {
		t.Error("the first run of a project has one before it")
	}
}

// post sends a form.
func post(h http.Handler, target string, form url.Values) int {
	r := httptest.NewRequest(http.MethodPost, target, strings.NewReader(form.Encode()))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Host = "127.0.0.1:9797"
	r.Header.Set("Authorization", "Bearer "+token)
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w.Code
}

// TestMarks: what may not be said is refused; a file that is none of ours ends nothing.
func TestMarks(t *testing.T) {
	dir := write(t, diagnosed("one", time.Now().Add(-time.Hour), "s.a"))
	o := options(dir)
	form := url.Values{"finding": {"IDX-01 table s.a"}, "mark": {"not now"}}
	o.Marked = nil
	if code := post(handler(o), "/api/v1/marks", form); code != http.StatusForbidden {
		t.Errorf("not allowed: %d", code)
	}
	said := 0
	o.Marked = func(serve.Mark) { said++ }
	h := handler(o)
	for code, bad := range map[int][]url.Values{
		http.StatusBadRequest: {{"mark": {"done"}}, {"finding": {"IDX-01 table s.a"}, "mark": {"<b>"}}, {"finding": {"a\nb"}, "mark": {"done"}},
			{"finding": {strings.Repeat("x", 301)}, "mark": {"done"}}},
		http.StatusNoContent: {form, {"finding": {"IDX-01 table s.b"}, "mark": {"done"}}, {"finding": {"IDX-01 table s.b"}, "mark": {""}}},
	} {
		for _, f := range bad {
			if got := post(h, "/api/v1/marks", f); got != code {
				t.Errorf("%v: %d, want %d", f, got, code)
			}
		}
	}
	_, text := get(t, h, "/api/v1/marks")
	if said != 3 || !strings.Contains(text, `"marks":[{"finding":"IDX-01 table s.a","mark":"not now","at":"`) || strings.Contains(text, "s.b") {
		t.Errorf("%d times, %s", said, text)
	}
	for i := range 700 { // each byte takes six in the file
		f := url.Values{"finding": {fmt.Sprintf("%03d%s", i, strings.Repeat("<", 297))}, "mark": {"done"}}
		if got := post(h, "/api/v1/marks", f); got != http.StatusNoContent {
			t.Fatalf("mark %d: %d", i, got)
		}
	}
	path := filepath.Join(dir, "marks.json")
	for _, content := range []string{"{", `[{"finding": "x", "mark": "<script>"}]`} {
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		code, text := get(t, h, "/api/v1/marks")
		if code == http.StatusOK && strings.Contains(text, "script") {
			t.Errorf("%s: %d %s", content, code, text)
		}
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("/etc/hostname", path); err != nil {
		t.Fatal(err)
	}
	if code, text := get(t, h, "/api/v1/marks"); code == http.StatusOK {
		t.Errorf("a link is followed: %s", text)
	}
}

// TestMarksInABrowser: a finding that was marked is so in the next run, and the mark is taken back by the same button.
func TestMarksInABrowser(t *testing.T) {
	now := time.Now()
	dir := write(t, diagnosed("first", now.Add(-2*time.Hour), "s.a"), diagnosed("second", now.Add(-time.Hour), "s.a"))
	o := options(dir)
	o.Marked = func(serve.Mark) {}
	base := serving(t, o)
	p := browsertest.Start(t).Open(t, browsertest.View{})
	enter(p, base, "/runs/first")
	p.Wait(`document.querySelectorAll('.marks button').length === 2`)
	p.Click(".marks button:nth-child(2)")
	p.Wait(`document.querySelector('.mark')?.textContent === 'not now'`)
	enter(p, base, "/runs/second")
	p.Wait(`document.querySelector('.mark')?.textContent === 'not now'`)
	p.Click(".marks button[aria-pressed=true]")
	p.Wait(`!document.querySelector('.mark')`)
}
