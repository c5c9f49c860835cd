package isucond

import (
	"bytes"
	"database/sql"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"github.com/kasoku/kasoku/internal/test/turn"
	"github.com/kasoku/kasoku/labs/kit"
	"github.com/kasoku/kasoku/mysqlflags"
	"github.com/kasoku/kasoku/sandbox"
	"github.com/kasoku/kasoku/sandbox/sandboxtest"
)

// newServer returns a service with these defects, whose directory has icons/.
func newServer(t *testing.T, dsn string, d kit.Set) *server {
	t.Helper()
	dsn = mysqlflags.WithParam(mysqlflags.WithParam(dsn, "interpolateParams=true"), "parseTime=true")
	db, err := mysqlflags.OpenDSN(dsn)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	s := &server{db: db, d: d, files: t.TempDir(), log: io.Discard}
	if err := s.writeFiles(); err != nil {
		t.Fatal(err)
	}
	return s
}

// An asking sends requests as user 1.
type asking struct {
	*testing.T
	h http.Handler
}

func (a asking) ask(want int, method, path, kind string, body []byte) *httptest.ResponseRecorder {
	a.Helper()
	req := httptest.NewRequest(method, path, bytes.NewReader(body))
	req.Header.Set("Cookie", "user=1")
	req.Header.Set("Content-Type", kind)
	w := httptest.NewRecorder()
	a.h.ServeHTTP(w, req)
	if w.Code != want {
		a.Errorf("%s %s: %d %s, want %d", method, path, w.Code, w.Body, want)
	}
	return w
}

// TestService: each request is answered alike with every defect and without any.
func TestService(t *testing.T) {
	turn.Wait(t)
	sandboxtest.Each(t, sandboxtest.Unsafe(), func(t *testing.T, s *sandbox.Server) {
		sandboxtest.Exec(t, sandboxtest.DB(t, s, ""), "CREATE DATABASE isucond CHARACTER SET utf8mb4")
		var answers []string
		for _, d := range []kit.Set{{}, Lab().All(), {"QRY-09W"}} {
			srv := newServer(t, s.DSN("root", "isucond"), d)
			a := asking{t, srv.routes()}
			a.ask(200, "POST", "/initialize", "", nil)
			a.ask(202, "POST", "/api/condition/"+uuidOf(1), "application/json", report(1))
			a.ask(404, "POST", "/api/condition/"+uuidOf(chairs+1), "application/json", report(1))
			a.ask(400, "POST", "/api/isu", "multipart/form-data; boundary=kasoku", []byte("--kasoku--"))
			const id, image = "0badcafe-0000-4000-8000-000000000000", "a picture"
			a.ask(201, "POST", "/api/isu", "multipart/form-data; boundary=kasoku", formOf(id, image))
			sent := a.ask(200, "GET", "/api/isu/"+id+"/icon", "", nil)
			if at := sent.Header().Get("X-Accel-Redirect"); at != "" {
				b, err := os.ReadFile(srv.iconFile(id))
				if err != nil || at != "/icons/"+id+".jpg" {
					t.Errorf("%s: the picture is at %s, %v", d, at, err)
				}
				sent.Body = bytes.NewBuffer(b)
			}
			if sent.Body.String() != image || (sent.Header().Get("X-Accel-Redirect") == "") != d.Has("NGX-06") {
				t.Errorf("%s: the picture is %.40q", d, sent.Body)
			}
			n := count(t, srv.db, "SELECT LENGTH(image) FROM isu WHERE jia_isu_uuid = '"+id+"'")
			if (n > 0) != d.Has("NGX-06") {
				t.Errorf("%s: %d bytes of the picture are in the row", d, n)
			}
			var got strings.Builder
			for _, path := range []string{"/api/isu", "/api/trend", "/api/condition/" + uuidOf(1),
				fmt.Sprintf("/api/isu/%s/graph?datetime=%d", uuidOf(1), began.Unix())} {
				got.WriteString(a.ask(200, "GET", path, "", nil).Body.String())
			}
			answers = append(answers, got.String())
		}
		if answers[0] != answers[1] || answers[0] != answers[2] || !strings.Contains(answers[0], "posted 9") {
			t.Errorf("answers differ:\n%.4000s\n%.4000s\n%.4000s", answers[0], answers[1], answers[2])
		}
	})
}

// TestShed: with APP-04 a report is either confirmed and kept or confirmed, dropped and logged, about six
// of ten; a share that is asked for counts before it.
func TestShed(t *testing.T) {
	turn.Wait(t)
	sandboxtest.Each(t, sandboxtest.Unsafe(), func(t *testing.T, s *sandbox.Server) {
		sandboxtest.Exec(t, sandboxtest.DB(t, s, ""), "CREATE DATABASE isucond CHARACTER SET utf8mb4")
		const reports = 400
		for _, tt := range []struct {
			c           kit.Config
			least, most int // that are dropped
		}{
			{kit.Config{}, 0, 0}, {kit.Config{Shed: 1, Defects: kit.Set{"APP-04"}}, reports, reports},
			{kit.Config{Defects: kit.Set{"APP-04"}}, 190, 290}, // 240, and five deviations
		} {
			var log bytes.Buffer
			srv := newServer(t, s.DSN("root", "isucond"), tt.c.Defects)
			srv.shed, srv.log = shedOf(tt.c), &log
			a := asking{t, srv.routes()}
			a.ask(200, "POST", "/initialize", "", nil)
			before := count(t, srv.db, "SELECT COUNT(*) FROM isu_condition")
			for range reports {
				a.ask(202, "POST", "/api/condition/"+uuidOf(1), "application/json", report(1))
			}
			kept := (count(t, srv.db, "SELECT COUNT(*) FROM isu_condition") - before) / 10
			dropped := strings.Count(log.String(), "drop report\n")
			if kept+dropped != reports || dropped < tt.least || dropped > tt.most {
				t.Errorf("%+v: %d kept, %d dropped of %d", tt.c, kept, dropped, reports)
			}
		}
	})
}

// TestInitialize: an index that was made by hand is gone after an initialize whose script
// does not have it.
func TestInitialize(t *testing.T) {
	turn.Wait(t)
	sandboxtest.Each(t, sandboxtest.Unsafe(), func(t *testing.T, s *sandbox.Server) {
		sandboxtest.Exec(t, sandboxtest.DB(t, s, ""), "CREATE DATABASE isucond CHARACTER SET utf8mb4")
		const columns = "SELECT COUNT(*) FROM information_schema.statistics " +
			"WHERE table_schema = 'isucond' AND index_name = 'by_time'"
		for _, tt := range []struct {
			d             kit.Set
			before, after int
		}{{kit.Set{}, 2, 2}, {kit.Set{"IDX-08"}, 2, 0}} {
			srv := newServer(t, s.DSN("root", "isucond"), tt.d)
			if err := fillTables(t.Context(), srv.db, tt.d); err != nil {
				t.Fatal(err)
			}
			before := count(t, srv.db, columns)
			asking{t, srv.routes()}.ask(200, "POST", "/initialize", "", nil)
			if after := count(t, srv.db, columns); before != tt.before || after != tt.after {
				t.Errorf("%s: %d columns of the index before and %d after, want %d and %d", tt.d, before, after,
					tt.before, tt.after)
			}
		}
	})
}

func count(t *testing.T, db *sql.DB, query string) (n int) {
	t.Helper()
	if err := db.QueryRowContext(t.Context(), query).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

func TestTargets(t *testing.T) {
	targets, err := listTargets("http://127.0.0.1:1", nil)
	if err != nil {
		t.Fatal(err)
	}
	pictures := 0
	for _, target := range targets {
		if target.Fill != nil { // a registration
			if n := len(target.Body); n < 20_000 || n > 128<<10 {
				t.Errorf("%s %s: %d bytes, which nginx's buffer does not hold", target.Method, target.URL, n)
			}
			pictures++
		}
	}
	if pictures != 4 {
		t.Errorf("%d registrations", pictures)
	}
}

// TestDefects: each line of a configuration that mends or seeds something has its id in the table.
func TestDefects(t *testing.T) {
	for line := range strings.Lines(strings.ReplaceAll(nginxConf+trendVCL, "# seeds ", "# mends ")) {
		if _, id, ok := strings.Cut(strings.TrimSpace(line), "# mends "); ok && !Lab().Known().Has(id) {
			t.Errorf("a line mends %q, which is none of %s", id, Lab().Known())
		}
	}
}
