package isuportal

import (
	"fmt"
	"go/format"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/diagnose"
	"github.com/kasoku/kasoku/diagnose/rules"
	"github.com/kasoku/kasoku/internal/test/golden"
	"github.com/kasoku/kasoku/internal/test/turn"
	"github.com/kasoku/kasoku/labs/kit"
	"github.com/kasoku/kasoku/sandbox"
	"github.com/kasoku/kasoku/sandbox/sandboxtest"
	"github.com/kasoku/kasoku/store"
)

// A snippet is what a finding of a kept run proposes.
type snippet struct {
	kasoku.Fix
	id, server string
	seeds      kit.Set
}

// snippets diagnoses the kept runs of the lab.
func snippets(t *testing.T, lang string) (out []snippet) {
	t.Helper()
	files, err := filepath.Glob("../truth/testdata/isuportal-*.kasoku.gz")
	if err != nil || len(files) == 0 {
		t.Fatalf("no kept runs: %v", err)
	}
	for _, path := range files {
		rec, err := store.Open(golden.Unpack(t, path, "run.kasoku"))
		if err != nil {
			t.Fatal(err)
		}
		defects, _ := rec.Setting("app", "defects")
		seeds, err := Lab().Parse(defects)
		if err != nil {
			t.Fatal(err)
		}
		c := diagnose.NewCase(rec, nil)
		for _, f := range diagnose.Diagnose(c, rules.All()).Findings {
			for _, x := range f.Fixes {
				same := func(s snippet) bool { return s.id == f.ID && s.Code == x.Code }
				if x.Lang == lang && !slices.ContainsFunc(out, same) {
					out = append(out, snippet{x, f.ID, c.Server(), seeds})
				}
			}
		}
	}
	if len(out) == 0 {
		t.Fatalf("no finding proposes %s", lang)
	}
	return out
}

// TestSnippets_SQL: both servers take each statement that findings propose, on the lab's own tables.
func TestSnippets_SQL(t *testing.T) {
	turn.Wait(t)
	all := snippets(t, "sql")
	sandboxtest.Both(t, sandboxtest.Unsafe(), func(t *testing.T, s *sandbox.Server) {
		newDatabase(t, s, 0)
		db := sandboxtest.DB(t, s, "isuportal0")
		if err := fillTables(t.Context(), db, kit.Set{}); err != nil {
			t.Fatal(err)
		}
		conn, err := db.Conn(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		for _, x := range all {
			if strings.HasPrefix(x.Code, "SET GLOBAL") && (x.server == "MariaDB") != (s.Kind == sandbox.KindMariaDB) {
				continue // a variable of one of them
			}
			for q := range strings.SplitSeq(strings.TrimRight(x.Code, "; \n"), ";\n") {
				if st, err := conn.PrepareContext(t.Context(), q); err == nil {
					st.Close()
				} else if _, err := conn.ExecContext(t.Context(), q); err != nil {
					t.Errorf("%s: %s: %v", x.id, q, err)
				}
			}
		}
	})
}

// TestSnippets_Go: what is proposed for the portal is Go.
func TestSnippets_Go(t *testing.T) {
	for _, x := range snippets(t, "go") {
		var added []string
		for line := range strings.Lines(x.Code) {
			if !strings.HasPrefix(line, "- ") {
				added = append(added, strings.TrimPrefix(line, "+ "))
			}
		}
		if _, err := format.Source([]byte(strings.Join(added, ""))); err != nil {
			t.Errorf("%s: %v\n%s", x.id, err, x.Code)
		}
	}
}

// TestSnippets_VCL: at the end of the lab's own VCL, with the defect in it, each makes Varnish answer most requests
// itself, whatever cookie they have, and none with what is older than the contest allows.
func TestSnippets_VCL(t *testing.T) {
	turn.Wait(t)
	for _, x := range snippets(t, "vcl") {
		t.Run(x.id+" "+x.seeds.String(), func(t *testing.T) {
			var made atomic.Int64
			app := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				made.Add(1)
				fmt.Fprint(w, time.Now().UnixMilli())
			}))
			defer app.Close()
			ask := func(v *sandbox.VarnishServer, n int) time.Duration {
				req, err := http.NewRequestWithContext(t.Context(), http.MethodGet,
					"http://"+v.Addr()+"/api/audience/dashboard", http.NoBody)
				if err != nil {
					t.Fatal(err)
				}
				req.Header.Set("Cookie", fmt.Sprintf("visitor=%d", n))
				resp, err := http.DefaultClient.Do(req)
				if err != nil {
					t.Fatal(err)
				}
				defer resp.Body.Close()
				text, _ := io.ReadAll(resp.Body)
				at, err := strconv.ParseInt(string(text), 10, 64)
				if err != nil {
					t.Fatal(err)
				}
				return time.Since(time.UnixMilli(at))
			}
			const asked = 60
			vcl := kit.Without(dashboardVCL, onlyVCL(x.seeds, x.id)) + "\n" + x.Code + "\n"
			v := sandboxtest.Varnish(t, sandbox.VarnishOptions{Upstream: strings.TrimPrefix(app.URL, "http://"), VCL: vcl})
			for n := range asked {
				if age := ask(v, n); age > time.Second {
					t.Errorf("an answer is %s old", age)
				}
				time.Sleep(50 * time.Millisecond)
			}
			if n := made.Load(); n > asked/5 {
				t.Errorf("%d of %d requests reached the application", n, asked)
			}
		})
	}
}

// onlyVCL are the seeds without those that other findings mend: each snippet is for its own.
func onlyVCL(seeds kit.Set, id string) kit.Set {
	return slices.DeleteFunc(slices.Clone(seeds), func(s string) bool {
		return strings.HasPrefix(s, "CCH-") && s != id
	})
}
