package isuportal

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/kasoku/kasoku/internal/test/turn"
	"github.com/kasoku/kasoku/labs/kit"
	"github.com/kasoku/kasoku/labs/kit/kittest"
	"github.com/kasoku/kasoku/sandbox"
	"github.com/kasoku/kasoku/sandbox/sandboxtest"
)

// TestSnippets_SQL: both servers take each statement that findings propose, on the lab's own tables.
func TestSnippets_SQL(t *testing.T) {
	turn.Wait(t)
	all := kittest.Snippets(t, Lab(), "sql")
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
			if !x.IsFor(s.Kind) {
				continue
			}
			for _, q := range x.Statements() {
				if st, err := conn.PrepareContext(t.Context(), q); err == nil {
					st.Close()
				} else if _, err := conn.ExecContext(t.Context(), q); err != nil {
					t.Errorf("%s: %s: %v", x.Finding.ID, q, err)
				}
			}
		}
	})
}

// TestSnippets_Go: what is proposed for the portal is Go.
func TestSnippets_Go(t *testing.T) { kittest.CheckGo(t, kittest.Snippets(t, Lab(), "go")) }

// TestSnippets_VCL: at the end of the lab's own VCL, with the defect in it, each makes Varnish answer most requests
// itself, whatever cookie they have, and none with what is older than the contest allows.
func TestSnippets_VCL(t *testing.T) {
	turn.Wait(t)
	for _, x := range kittest.Snippets(t, Lab(), "vcl") {
		t.Run(x.Finding.ID+" "+x.Seeds.String(), func(t *testing.T) {
			const asked = 60
			app := newClock(t)
			v := app.varnish(t, kit.Without(dashboardVCL, onlyVCL(x.Seeds, x.Finding.ID))+"\n"+x.Code+"\n")
			for n := range asked {
				if age := time.Since(app.ask(t, v, n)); age > time.Second {
					t.Errorf("an answer is %s old", age)
				}
				time.Sleep(50 * time.Millisecond)
			}
			if n := app.made.Load(); n > asked/5 {
				t.Errorf("%d of %d requests reached the application", n, asked)
			}
		})
	}
}

// TestSnippets_Ban: with what is proposed for CCH-05 the first answer after /initialize is made after it; without,
// it is the one that was kept.
func TestSnippets_Ban(t *testing.T) {
	turn.Wait(t)
	tested := false
	for _, x := range kittest.Snippets(t, Lab(), "vcl") {
		if x.Finding.ID != "CCH-05" {
			continue
		}
		tested = true
		for _, code := range []string{"", x.Code} {
			app := newClock(t)
			v := app.varnish(t, kit.Without(dashboardVCL, kit.Set{"CCH-05"})+"\n"+forLong+code+"\n")
			before := app.ask(t, v, 1)
			resp, err := http.Post("http://"+v.Addr()+"/initialize", "application/json", http.NoBody)
			if err != nil {
				t.Fatal(err)
			}
			resp.Body.Close()
			after := app.ask(t, v, 2)
			if kept := after.Equal(before); kept != (code == "") {
				t.Errorf("the answer after /initialize is the one of before: %t, with\n%s", kept, code)
			}
		}
	}
	if !tested {
		t.Error("no finding is CCH-05")
	}
}

// forLong keeps the ranking for longer than a busy host takes.
const forLong = "sub vcl_backend_response { if (bereq.url ~ \"^/api/audience/\") { set beresp.ttl = 1h; } }\n"

// A clock is a service whose answers are the times at which they were made.
type clock struct {
	url  string
	made atomic.Int64
}

func newClock(t *testing.T) *clock {
	t.Helper()
	c := &clock{}
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		c.made.Add(1)
		fmt.Fprint(w, time.Now().UnixNano())
	}))
	t.Cleanup(srv.Close)
	c.url = srv.URL
	return c
}

// varnish starts a Varnish before it.
func (c *clock) varnish(t *testing.T, vcl string) *sandbox.VarnishServer {
	t.Helper()
	return sandboxtest.Varnish(t, sandbox.VarnishOptions{Upstream: strings.TrimPrefix(c.url, "http://"), VCL: vcl})
}

// ask returns when the audience's ranking was made that the n-th viewer gets.
func (c *clock) ask(t *testing.T, v *sandbox.VarnishServer, n int) time.Time {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+v.Addr()+"/api/audience/dashboard",
		http.NoBody)
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
	return time.Unix(0, at)
}

// onlyVCL are the seeds without those that other findings mend: each snippet is for its own.
func onlyVCL(seeds kit.Set, id string) kit.Set {
	return slices.DeleteFunc(slices.Clone(seeds), func(s string) bool {
		return strings.HasPrefix(s, "CCH-") && s != id
	})
}
