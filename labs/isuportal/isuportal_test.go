package isuportal

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/kasoku/kasoku/internal/test/turn"
	"github.com/kasoku/kasoku/labs/kit"
	"github.com/kasoku/kasoku/sandbox"
	"github.com/kasoku/kasoku/sandbox/sandboxtest"
)

// moments are times in answers, which differ from run to run, and tokens.
var moments = regexp.MustCompile(`\b1[0-9]{12}\b|"invite_token":"[A-Z2-7]*"|"push_key":"[^"]*"`)

// An asking sends requests and keeps the answers.
type asking struct {
	*testing.T
	h    http.Handler
	said strings.Builder
}

func (a *asking) ask(want int, who, method, path, body string) string {
	a.Helper()
	req := httptest.NewRequest(method, path, strings.NewReader(body))
	req.AddCookie(&http.Cookie{Name: "contestant", Value: who})
	w := httptest.NewRecorder()
	a.h.ServeHTTP(w, req)
	if w.Code != want {
		a.Errorf("%s %s: %d %s, want %d", method, path, w.Code, w.Body, want)
	}
	fmt.Fprintf(&a.said, "%s %s %d %s\n", method, path, w.Code, moments.ReplaceAllString(w.Body.String(), "at"))
	return w.Body.String()
}

// initialize begins a contest that started a while ago and is frozen after another.
func (a *asking) initialize(starts, freezes time.Duration) {
	now := time.Now()
	a.ask(200, "", "POST", "/initialize", fmt.Sprintf(`{"contest": {"registration_open_at": %d, "contest_starts_at": %d,
		"contest_freezes_at": %d, "contest_ends_at": %d}}`, now.UnixMilli(), now.Add(starts).UnixMilli(),
		now.Add(freezes).UnixMilli(), now.Add(time.Hour).UnixMilli()))
}

// team makes a team of three.
func (a *asking) team(n int) {
	for m := range 3 {
		a.ask(200, "", "POST", "/api/signup", fmt.Sprintf(`{"contestant_id": "c%d-%d", "password": "p"}`, n, m))
	}
	made := a.ask(200, fmt.Sprintf("c%d-0", n), "POST", "/api/registration/team",
		fmt.Sprintf(`{"team_name": "Team %d", "name": "leader %d", "email_address": "a@example.com", "is_student": true}`, n, n))
	token := regexp.MustCompile(`"invite_token":"([A-Z2-7]+)"`).FindStringSubmatch(made)
	if token == nil {
		a.Fatal(made)
	}
	for m := 1; m < 3; m++ {
		who := fmt.Sprintf("c%d-%d", n, m)
		body := fmt.Sprintf(`{"team_id": %d, "invite_token": %q, "name": "member %d", "is_student": %t}`, n,
			token[1], m, n == 1)
		a.ask(403, who, "POST", "/api/registration/contestant", strings.Replace(body, token[1], "wrong", 1))
		a.ask(200, who, "POST", "/api/registration/contestant", body)
	}
}

const (
	receiveAt = "/xsuportal.proto.services.bench.BenchmarkQueue/ReceiveBenchmarkJob"
	reportAt  = "/xsuportal.proto.services.bench.BenchmarkReport/ReportBenchmarkResult"
)

// job has a team's job done, with a score.
func (a *asking) job(team, id, score int) {
	who := fmt.Sprintf("c%d-0", team)
	a.ask(200, who, "POST", "/api/contestant/benchmark_jobs", `{"target_hostname": "a.example.com"}`)
	a.ask(403, who, "POST", "/api/contestant/benchmark_jobs", `{"target_hostname": "a.example.com"}`)
	if got := a.ask(200, "", "POST", receiveAt, "{}"); !strings.Contains(got, fmt.Sprintf(`"job_id":%d`, id)) {
		a.Fatalf("job %d: %s", id, got)
	}
	a.ask(400, "", "POST", reportAt, fmt.Sprintf(`{"job_id": %d, "finished": true}`, id))
	a.ask(200, "", "POST", reportAt, fmt.Sprintf(`{"job_id": %d, "finished": false}`, id))
	a.ask(200, "", "POST", reportAt,
		fmt.Sprintf(`{"job_id": %d, "finished": true, "score_raw": %d, "score_deduction": 1}`, id, score+1))
	a.ask(400, "", "POST", reportAt,
		fmt.Sprintf(`{"job_id": %d, "finished": true, "score_raw": 1, "score_deduction": 1}`, id))
}

// TestService: each request is answered alike with every defect and without any, but for notifications,
// which are polled for or pushed.
func TestService(t *testing.T) {
	turn.Wait(t)
	sandboxtest.Both(t, sandboxtest.Unsafe(), func(t *testing.T, s *sandbox.Server) {
		sets := []kit.Set{{}, Lab().Known(), {"QRY-07"}, {"POOL-06", "LCK-03"}}
		said := make([]string, len(sets))
		sandboxtest.AtOnce(t, namesOf(sets), func(t *testing.T, i int) {
			a := &asking{T: t, h: newService(t, newDatabase(t, s, i), sets[i], 0, 3)}
			a.contest()
			said[i] = a.said.String()
		})
		for i := range said {
			if said[i] != said[0] || said[i] == "" {
				t.Errorf("answers differ:\n%s\n%s", said[0], said[i])
			}
		}
	})
}

// contest goes through a contest of three teams.
func (a *asking) contest() {
	const starts = 3 * time.Second
	a.initialize(starts, time.Hour)
	began := time.Now()
	a.ask(401, "stranger", "GET", "/api/session", "")
	a.ask(401, "c1-0", "POST", "/api/registration/team", "{}")
	for n := 1; n <= 3; n++ {
		a.team(n)
	}
	a.ask(403, "c1-0", "POST", "/api/contestant/benchmark_jobs", `{"target_hostname": "too early"}`)
	a.ask(200, "c2-1", "GET", "/api/session", "")
	a.ask(200, "", "GET", "/api/audience/teams", "")
	time.Sleep(time.Until(began.Add(starts)))
	for i, j := range [][2]int{{1, 50}, {2, 70}, {1, 70}, {3, 20}, {1, 40}} {
		a.job(j[0], i+1, j[1])
	}
	a.ask(200, "", "POST", receiveAt, "{}")
	for _, who := range []string{"c1-0", "c2-2"} {
		a.ask(200, who, "POST", "/api/contestant/clarifications", `{"question": "May we?"}`)
	}
	a.ask(403, "c1-0", "GET", "/api/admin/clarifications", "")
	a.ask(200, "admin", "GET", "/api/admin/clarifications", "")
	a.ask(200, "admin", "PUT", "/api/admin/clarifications/1", `{"answer": "Yes", "disclose": true}`)
	a.ask(404, "admin", "PUT", "/api/admin/clarifications/99", `{"answer": "Yes"}`)
	for _, who := range []string{"c1-1", "c2-2", "c3-0"} {
		for _, path := range []string{"clarifications", "dashboard", "benchmark_jobs", "benchmark_jobs/1",
			"benchmark_jobs/2"} {
			want := 200
			if path == "benchmark_jobs/1" && who[1] != '1' || path == "benchmark_jobs/2" && who[1] != '2' {
				want = 404 // another team's
			}
			a.ask(want, who, "GET", "/api/contestant/"+path, "")
		}
	}
	a.ask(200, "", "GET", "/api/audience/dashboard", "")
}

// TestFreeze: after the freeze an audience sees nothing new, a team its own results, and results
// that were shown before are taken away.
func TestFreeze(t *testing.T) {
	turn.Wait(t)
	s := sandboxtest.MariaDB(t, sandboxtest.Unsafe())
	sets := []kit.Set{{}, {"QRY-07"}}
	sandboxtest.AtOnce(t, namesOf(sets), func(t *testing.T, i int) {
		(&asking{T: t, h: newService(t, newDatabase(t, s, i), sets[i], 0, 3)}).freeze()
	})
}

func namesOf(sets []kit.Set) (names []string) {
	for _, d := range sets {
		names = append(names, d.String())
	}
	return names
}

// newDatabase makes one of the lab, and returns its DSN.
func newDatabase(t *testing.T, s *sandbox.Server, n int) string {
	t.Helper()
	name := fmt.Sprintf("isuportal%d", n)
	sandboxtest.Exec(t, sandboxtest.DB(t, s, ""), "CREATE DATABASE "+name+" CHARACTER SET utf8mb4")
	return s.DSN("root", name)
}

// freeze goes through a contest that is frozen after its first result.
func (a *asking) freeze() {
	const starts, freezes = 2 * time.Second, 3 * time.Second
	a.initialize(starts, freezes)
	began := time.Now()
	a.team(1)
	a.team(2)
	time.Sleep(time.Until(began.Add(starts)))
	a.job(1, 1, 50)
	time.Sleep(time.Until(began.Add(freezes)))
	a.job(1, 2, 90)
	a.job(2, 3, 80)
	for _, tt := range []struct {
		who, path string
		want      []string
	}{
		{"", "/api/audience/dashboard", []string{`{"score":50`}},
		{"c1-2", "/api/contestant/dashboard", []string{`{"score":50`, `{"score":90`}},
		{"c2-2", "/api/contestant/dashboard", []string{`{"score":50`, `{"score":80`}},
	} {
		got := a.ask(200, tt.who, "GET", tt.path, "")
		for _, score := range []string{`{"score":50`, `{"score":80`, `{"score":90`} {
			if strings.Contains(got, score) != strings.Contains(strings.Join(tt.want, " "), score) {
				a.Errorf("%s sees %s, want %s", tt.who, got, tt.want)
			}
		}
	}
}

// TestDefects: each line of a configuration that mends or seeds something has its id in the table.
func TestDefects(t *testing.T) {
	for line := range strings.Lines(strings.ReplaceAll(nginxConf+dashboardVCL, "# seeds ", "# mends ")) {
		if _, id, ok := strings.Cut(strings.TrimSpace(line), "# mends "); ok && !Lab().Known().Has(id) {
			t.Errorf("a line mends %q, which is none of %s", id, Lab().Known())
		}
	}
}
