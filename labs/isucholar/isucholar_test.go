package isucholar

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/kasoku/kasoku/internal/test/turn"
	"github.com/kasoku/kasoku/labs/kit"
	"github.com/kasoku/kasoku/mysqlflags"
	"github.com/kasoku/kasoku/sandbox"
	"github.com/kasoku/kasoku/sandbox/sandboxtest"
)

const classPath = "/api/courses/1/classes/1/assignments"

// newServer returns a service with these defects.
func newServer(t *testing.T, dsn string, d kit.Set) http.Handler {
	t.Helper()
	db, err := mysqlflags.OpenDSN(mysqlflags.WithParam(dsn, "interpolateParams=true"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	db.SetMaxIdleConns(openConnections)
	s := &server{db: db, d: d, files: t.TempDir(), log: log.New(io.Discard, "", 0)}
	if err := s.prepare(); err != nil {
		t.Fatal(err)
	}
	return s.routes()
}

func ask(t *testing.T, h http.Handler, method, path, kind string, body []byte) []byte {
	t.Helper()
	w := send(h, method, path, kind, body)
	if w.Code != http.StatusOK {
		t.Errorf("%s %s: %d %s", method, path, w.Code, w.Body)
	}
	return w.Body.Bytes()
}

func send(h http.Handler, method, path, kind string, body []byte) *httptest.ResponseRecorder {
	req := httptest.NewRequest(method, path, bytes.NewReader(body))
	req.Header.Set("Cookie", "user=7")
	req.Header.Set("Content-Type", kind)
	w := httptest.NewRecorder()
	h.ServeHTTP(w, req)
	return w
}

// lostScores sends scores in orders that meet each other and returns how many requests
// failed: with LCK-02 until one did.
func lostScores(h http.Handler, d kit.Set) (lost int64) {
	const clients, rounds, mostRounds = 4, 5, 100
	for n := 0; n < rounds || d.Has("LCK-02") && lost == 0 && n < mostRounds; n++ {
		var failed atomic.Int64
		var wg sync.WaitGroup
		for i := range clients {
			order := func(i int) int { return i + 1 }
			if i%2 > 0 {
				order = func(i int) int { return scored - i }
			}
			wg.Go(func() {
				w := send(h, "PUT", classPath+"/scores", "application/json", encodeScores(order))
				if w.Code != http.StatusOK {
					failed.Add(1)
				}
			})
		}
		wg.Wait()
		lost += failed.Load()
	}
	return lost
}

// TestService: each request is answered alike with every defect and without any, but for
// victims of deadlocks.
func TestService(t *testing.T) {
	turn.Wait(t)
	sandboxtest.Each(t, sandboxtest.Unsafe(), func(t *testing.T, s *sandbox.Server) {
		sandboxtest.Exec(t, sandboxtest.DB(t, s, ""), "CREATE DATABASE isucholar CHARACTER SET utf8mb4")
		if err := fillTables(t.Context(), sandboxtest.DB(t, s, "isucholar"), nil); err != nil {
			t.Fatal(err)
		}
		var answers []map[string]any
		for _, d := range []kit.Set{{}, append(Lab().All(), "APP-10")} {
			h := newServer(t, s.DSN("root", "isucholar"), d)
			if lost := lostScores(h, d); (lost > 0) != d.Has("LCK-02") {
				t.Errorf("%s: %d requests for scores failed", d, lost)
			}
			ask(t, h, "PUT", classPath+"/scores", "application/json", encodeScores(func(i int) int { return i + 1 }))
			ask(t, h, "PUT", "/api/users/me/courses", "application/json", []byte(`[20, 21]`))
			ask(t, h, "POST", classPath, "multipart/form-data; boundary=kasoku", encodeForm(fileOf(0)))
			archive := ask(t, h, "POST", classPath+"/export", "", nil)
			if !bytes.HasPrefix(archive, []byte("PK")) || bytes.Count(archive, []byte("PK\x01\x02")) != handed {
				t.Errorf("%s: the archive has %d files", d, bytes.Count(archive, []byte("PK\x01\x02")))
			}
			var got map[string]any
			if err := json.Unmarshal(ask(t, h, "GET", "/api/users/me/grades", "", nil), &got); err != nil {
				t.Fatal(err)
			}
			got["mine"] = string(ask(t, h, "GET", "/api/users/me/courses", "", nil))
			answers = append(answers, got)
		}
		if !reflect.DeepEqual(answers[0], answers[1]) {
			t.Errorf("grades differ:\n%v\n%v", answers[0], answers[1])
		}
		if n := strings.Count(fmt.Sprint(answers[0]["courses"]), "score:"); n != (perStudent+2)*parts {
			t.Errorf("%d scores", n)
		}
	})
}

func TestTargets(t *testing.T) {
	for _, d := range []kit.Set{{}, {"APP-10"}} {
		targets, err := listTargets("http://127.0.0.1:1", d)
		longest := 0
		for i := range targets {
			longest = max(longest, len(targets[i].Body))
		}
		if err != nil || len(targets) != 7+len(d) || (longest > slidesSize) != d.Has("APP-10") {
			t.Fatalf("%s: %d targets, the longest of %d bytes, %v", d, len(targets), longest, err)
		}
	}
	part, err := multipart.NewReader(bytes.NewReader(encodeForm(fileOf(0))), "kasoku").NextPart()
	if err != nil {
		t.Fatal(err)
	}
	if b, err := io.ReadAll(part); err != nil || !bytes.Equal(b, fileOf(0)) {
		t.Errorf("the form's file has %d bytes, %v", len(b), err)
	}
}

// TestDefects: each line of nginx.conf that mends something mends a defect of the table.
func TestDefects(t *testing.T) {
	for line := range strings.Lines(nginxConf) {
		if _, id, ok := strings.Cut(strings.TrimSpace(line), "# mends "); ok && !Lab().All().Has(id) {
			t.Errorf("nginx.conf mends %q, which is none of %s", id, Lab().All())
		}
	}
}

// TestSummary: a student without a grade is placed nowhere, with APP-08 far below all who have one.
func TestSummary(t *testing.T) {
	s := &server{}
	all, mine := statisticsOf([]float64{60, 62, 64}), 64.0
	if got := s.summarize(nil, all); got.GPA != nil || got.TScore != nil {
		t.Errorf("%+v", got)
	}
	if got := s.summarize(&mine, all); *got.TScore < 62.2 || *got.TScore > 62.3 {
		t.Errorf("a T-score of %v", *got.TScore)
	}
	s.d = kit.Set{"APP-08"}
	if got := s.summarize(nil, all); *got.GPA != 0 || *got.TScore > -300 {
		t.Errorf("%v has a T-score of %v", *got.GPA, *got.TScore)
	}
	if got := s.summarize(&mine, statistics{Average: 64}); *got.TScore != 50 {
		t.Errorf("a T-score of %v where all are alike", *got.TScore)
	}
}
