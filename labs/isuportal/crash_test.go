package isuportal

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/kasoku/kasoku/internal/test/turn"
	"github.com/kasoku/kasoku/labs/contest/contesttest"
	"github.com/kasoku/kasoku/labs/kit"
	"github.com/kasoku/kasoku/sandbox"
	"github.com/kasoku/kasoku/sandbox/sandboxtest"
)

// childEnv makes the test binary the portal or the queue server: its value is which one, the DSN and
// the defects, with line breaks between them.
const childEnv = "KASOKU_TEST_ISUPORTAL"

func TestMain(m *testing.M) { contesttest.Main(m, childEnv, child) }

// child serves until it is killed.
func child(value string, ready func(address string)) error {
	v := strings.Split(value, "\n")
	d, err := Lab().Parse(v[2])
	if err != nil {
		return err
	}
	do := map[string]func(context.Context, kit.Config) error{"portal": serve, "queue": serveQueue}[v[0]]
	return do(context.Background(), kit.Config{DSN: v[1], Defects: d, Listen: "127.0.0.1:0", Log: io.Discard, Ready: ready})
}

// A wreck is both processes, and what their clients were confirmed.
type wreck struct {
	t             *testing.T
	portal, queue *contesttest.Victim
	client        http.Client
	confirmed     atomic.Int64

	mu        sync.Mutex
	asked     map[int64]bool  // jobs
	given     map[int64]bool  // jobs that a benchmarker got
	scores    map[int64]int64 // of jobs whose result was confirmed
	questions []int64
}

// send returns the status, 0 when there was no answer.
func (w *wreck) send(to *contesttest.Victim, who, path string, body, into any) int {
	b, err := json.Marshal(body)
	if err != nil {
		w.t.Error(err)
	}
	r, err := http.NewRequest("POST", to.Base()+path, bytes.NewReader(b))
	if err != nil {
		w.t.Error(err)
		return 0
	}
	r.AddCookie(&http.Cookie{Name: "contestant", Value: who})
	resp, err := w.client.Do(r)
	if err != nil {
		return 0
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	if err != nil {
		return 0
	}
	if resp.StatusCode == http.StatusOK && into != nil && json.Unmarshal(answer, into) != nil {
		w.t.Errorf("%s: %s", path, answer)
	}
	return resp.StatusCode
}

// ask has a team ask for a job, and for help.
func (w *wreck) ask(who string) {
	var made struct {
		ID int64 `json:"id"`
	}
	if w.send(w.portal, who, "/api/contestant/benchmark_jobs", map[string]string{"target_hostname": "a"},
		&made) == http.StatusOK {
		w.mu.Lock()
		w.asked[made.ID] = true
		w.mu.Unlock()
	}
	if w.send(w.portal, who, "/api/contestant/clarifications", map[string]string{"question": "May we?"},
		&made) == http.StatusOK {
		w.mu.Lock()
		w.questions = append(w.questions, made.ID)
		w.mu.Unlock()
	}
}

// work has a benchmarker do one job.
func (w *wreck) work() {
	var got given
	if w.send(w.queue, "", receiveAt, struct{}{}, &got) != http.StatusOK || got.ID == 0 {
		return
	}
	w.mu.Lock()
	if w.given[got.ID] {
		w.t.Errorf("job %d was given out twice", got.ID)
	}
	w.given[got.ID] = true
	w.mu.Unlock()
	raw := 100 + got.ID
	for _, done := range []bool{false, true} {
		if w.send(w.queue, "", reportAt, map[string]any{"job_id": got.ID, "finished": done, "score_raw": raw},
			nil) != http.StatusOK {
			return
		}
	}
	w.confirmed.Add(1)
	w.mu.Lock()
	w.scores[got.ID] = raw
	w.mu.Unlock()
}

// progress waits until some more results were confirmed.
func (w *wreck) progress() {
	w.t.Helper()
	want := w.confirmed.Load() + 10
	sandboxtest.Until(w.t, "jobs go on", func() bool { return w.confirmed.Load() >= want })
}

// crashTeams are many, as a job whose answer was lost is its team's last.
const crashTeams = 60

// TestCrashes: whatever is killed with SIGKILL and under load, the portal, the queue server or the
// database, what was confirmed is there, and no job is given out twice.
func TestCrashes(t *testing.T) {
	turn.Wait(t)
	kills := 1
	if os.Getenv("KASOKU_LONG") != "" {
		kills = 8
	}
	server := sandboxtest.MariaDB(t, sandbox.Options{Args: Lab().Args(nil, "")})
	db := sandboxtest.DB(t, server, "")
	for i, d := range []kit.Set{{}, {"LCK-03", "POOL-06", "QRY-07"}} {
		t.Run(d.String(), func(t *testing.T) {
			name := fmt.Sprintf("isuportal%d", i)
			sandboxtest.Exec(t, db, "CREATE DATABASE "+name+" CHARACTER SET utf8mb4")
			crash(t, server, server.DSN("root", name), d, kills)
		})
	}
}

func crash(t *testing.T, server *sandbox.Server, dsn string, d kit.Set, kills int) {
	rest := "\n" + dsn + "\n" + d.String()
	w := &wreck{t: t, portal: contesttest.NewVictim(t, childEnv, "portal"+rest), queue: contesttest.NewVictim(t, childEnv, "queue"+rest),
		asked: map[int64]bool{}, given: map[int64]bool{}, scores: map[int64]int64{}}
	w.client.Timeout = 10 * time.Second
	s := register(t, dsn, d)
	w.portal.Start()
	w.queue.Start()
	ctx, cancel := context.WithCancel(t.Context())
	var clients sync.WaitGroup
	for i := range 4 {
		clients.Go(func() {
			for n := i; ctx.Err() == nil; n += 4 {
				w.ask(fmt.Sprintf("c%d", n%crashTeams))
			}
		})
		clients.Go(func() {
			for ctx.Err() == nil {
				w.work()
			}
		})
	}
	for range kills {
		for _, v := range []*contesttest.Victim{w.portal, w.queue} {
			w.progress()
			v.Kill()
			v.Start()
		}
		w.progress()
		if err := server.Kill(); err != nil {
			t.Fatal(err)
		}
		if err := server.Restart(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	w.progress()
	cancel()
	clients.Wait()
	w.portal.Kill()
	w.queue.Kill()
	w.check(s)
}

// register makes the teams of a contest that is on.
func register(t *testing.T, dsn string, d kit.Set) *server {
	t.Helper()
	s, err := open(kit.Config{DSN: dsn, Defects: d, Log: io.Discard, Pool: 4})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		s.push.close()
		_ = s.db.Close()
	})
	if err := fillTables(t.Context(), s.db, d); err != nil {
		t.Fatal(err)
	}
	now := time.Now().UTC()
	if _, err := s.db.Exec("INSERT INTO contest_config VALUES (?, ?, ?, ?)", now, now, now.Add(time.Hour),
		now.Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	for i := range crashTeams {
		sandboxtest.Exec(t, s.db,
			fmt.Sprintf("INSERT INTO teams (id, name, leader_id, email_address, invite_token, created_at) "+
				"VALUES (%d, 'Team %d', 'c%d', '', '', NOW(6))", i+1, i, i),
			fmt.Sprintf("INSERT INTO contestants (id, password, team_id, created_at) VALUES ('c%d', 'p', %d, NOW(6))", i, i+1))
	}
	return s
}

// check compares the tables with what was confirmed.
func (w *wreck) check(s *server) {
	w.t.Helper()
	count := func(query string, args ...any) (n int) {
		if err := s.db.QueryRow("SELECT COUNT(*) FROM "+query, args...).Scan(&n); err != nil {
			w.t.Error(err)
		}
		return n
	}
	for id := range w.asked {
		if count("benchmark_jobs WHERE id = ?", id) != 1 {
			w.t.Errorf("job %d was confirmed and is lost", id)
		}
	}
	for id, raw := range w.scores {
		if count("benchmark_jobs WHERE id = ? AND status = ? AND score_raw = ? AND finished_at IS NOT NULL", id,
			finished, raw) != 1 {
			w.t.Errorf("the result of job %d was confirmed and is lost", id)
		}
	}
	for _, id := range w.questions {
		if count("clarifications WHERE id = ?", id) != 1 {
			w.t.Errorf("question %d was confirmed and is lost", id)
		}
	}
	if len(w.asked) == 0 || len(w.scores) == 0 || len(w.questions) == 0 {
		w.t.Error("nothing was confirmed")
	}
}
