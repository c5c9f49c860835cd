package server_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/kasoku/kasoku/labs/goldrush"
	"github.com/kasoku/kasoku/labs/goldrush/mine"
	"github.com/kasoku/kasoku/labs/goldrush/server"
)

// A site is a server that runs.
type site struct {
	t   testing.TB
	s   *server.Server
	url string
}

func start(t testing.TB, r goldrush.Rules) *site {
	t.Helper()
	s := server.New(mine.Options{Rules: r, Seed: 42})
	ctx, end := context.WithCancel(context.Background())
	var runs sync.WaitGroup
	runs.Go(func() { s.Run(ctx) })
	web := httptest.NewServer(s)
	t.Cleanup(func() { web.Close(); end(); runs.Wait() })
	return &site{t, s, web.URL}
}

// send makes a request whose body is JSON, without one where it is empty.
func (s *site) send(method, path, body string) (status int, answer string) {
	return s.sendAs(method, path, body, "application/json")
}

func (s *site) sendAs(method, path, body, kind string) (status int, answer string) {
	s.t.Helper()
	req, err := http.NewRequest(method, s.url+path, strings.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	if kind != "" {
		req.Header.Set("Content-Type", kind)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		s.t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	if got := resp.Header.Get("Content-Type"); got != "application/json" && path != "/metrics" {
		s.t.Errorf("%s %s: Content-Type %q", method, path, got)
	}
	if got := resp.Header.Get("Cache-Control"); got != "no-cache, no-store, must-revalidate" && path != "/metrics" {
		s.t.Errorf("%s %s: Cache-Control %q", method, path, got)
	}
	return resp.StatusCode, strings.TrimSuffix(string(b), "\n")
}

// cpu is what was used of the virtual CPU until now, as /metrics has it.
func (s *site) cpu() time.Duration {
	s.t.Helper()
	_, text := s.send("GET", "/metrics", "")
	sum := 0.0
	for _, m := range regexp.MustCompile(`(?m)^goldrush_cpu_seconds_total\{.*\} (\S+)$`).FindAllStringSubmatch(text, -1) {
		v, err := strconv.ParseFloat(m[1], 64)
		if err != nil {
			s.t.Fatal(err)
		}
		sum += v
	}
	return time.Duration(sum*1e4+0.5) * 100 * time.Microsecond
}

// sure are the published rules by which nothing fails at random.
func sure() goldrush.Rules {
	r := goldrush.Published()
	r.IssueFails, r.CashFails = 0, 0
	return r
}

// An exchange is a request of the script, what is answered, as a regular expression, and what it
// takes of the virtual CPU.
type exchange struct {
	method, path, body string
	status             int
	answer             string
	cpu                time.Duration
}

func (s *site) play(all []exchange) {
	s.t.Helper()
	for _, x := range all {
		before := s.cpu()
		status, answer := s.send(x.method, x.path, x.body)
		if status != x.status || !regexp.MustCompile(`\A`+x.answer+`\z`).MatchString(answer) {
			s.t.Errorf("%s %s %s: %d %s, want %d %s", x.method, x.path, x.body, status, answer, x.status, x.answer)
		}
		if took := s.cpu() - before; took != x.cpu {
			s.t.Errorf("%s %s %s took %s of the CPU, want %s", x.method, x.path, x.body, took, x.cpu)
		}
	}
}

const (
	micro = time.Microsecond
	milli = time.Millisecond
)

// TestScript: status, body and cost of each row of the published interface that needs no
// treasure.
func TestScript(t *testing.T) {
	start(t, sure()).play([]exchange{
		{"GET", "/health-check", "", 200, `"OK"`, 0},
		{"GET", "/balance", "", 200, `\{"balance":0,"wallet":\[\]\}`, 0},
		{"GET", "/licenses", "", 200, `\[\]`, 0},
		{"POST", "/licenses", "", 422, `\{"code":602,"message":"args in body is required"\}`, 0},
		{"POST", "/licenses", "[", 400, `\{"code":400,"message":"parsing args body .*"\}`, 0},
		{"POST", "/licenses", "[1,1]", 422, `\{"code":610,"message":".*duplicates"\}`, 0},
		{"POST", "/licenses", "[5]", 402, `\{"code":402,"message":"bogus coin: too many coins in the wallet"\}`, 0},
		{"POST", "/licenses", "[]", 200, `\{"id":0,"digAllowed":3,"digUsed":0\}`, 0},
		{"GET", "/licenses", "", 200, `\[\{"id":0,"digAllowed":3,"digUsed":0\}\]`, 0},

		{"POST", "/explore", `{"posX":0,"posY":0,"sizeX":1,"sizeY":1}`, 200,
			`\{"area":\{"posX":0,"posY":0,"sizeX":1,"sizeY":1\},"amount":\d\}`, 500 * micro},
		{"POST", "/explore", `{"posX":0,"posY":0,"sizeX":3,"sizeY":1}`, 200, `\{"area":.*\}`, 500 * micro},
		{"POST", "/explore", `{"posX":0,"posY":0,"sizeX":1,"sizeY":15}`, 200, `\{"area":.*\}`, 1500 * micro},
		{"POST", "/explore", `{"posX":0,"posY":0,"sizeX":16,"sizeY":1}`, 200, `\{"area":.*\}`, 2 * milli},
		{"POST", "/explore", `{"posX":0,"posY":0,"sizeX":3500,"sizeY":3500}`, 200, `\{"area":.*,"amount":4\d{5}\}`,
			11500 * micro},
		{"POST", "/explore", `{"posX":3500,"posY":0,"sizeX":1,"sizeY":1}`, 422,
			`\{"code":1000,"message":"wrong coordinates: X 3500-3500 is outside the allowed range 0-3499"\}`, 500 * micro},
		{"POST", "/explore", `{"posX":0,"posY":0}`, 422, `\{"code":1000,.*\}`, 500 * micro},
		{"POST", "/explore", `{"posX":-1,"posY":0,"sizeX":1,"sizeY":1}`, 422,
			`\{"code":609,"message":"posX in body should be greater than or equal to 0"\}`, 0},
		{"POST", "/explore", `{"posX":1,"posY":0,"sizeX":-1,"sizeY":1}`, 422, `\{"code":609,.*\}`, 0},
		{"POST", "/explore", `{"posX":0,"sizeX":1,"sizeY":1}`, 422, `\{"code":602,"message":"posY in body is required"\}`, 0},
		{"POST", "/explore", `{"posX":"0"}`, 400, `\{"code":400,.*\}`, 0},
		{"POST", "/explore", "", 422, `\{"code":602,.*\}`, 0},

		{"POST", "/dig", `{"licenseID":9,"posX":0,"posY":0,"depth":1}`, 403, `\{"code":403,"message":"no such license"\}`,
			milli},
		{"POST", "/dig", `{"licenseID":0,"posX":0,"posY":0,"depth":0}`, 422, `\{"code":609,.*\}`, 0},
		{"POST", "/dig", `{"licenseID":0,"posX":0,"posY":0,"depth":101}`, 422,
			`\{"code":608,"message":"depth in body should be less than or equal to 100"\}`, 0},
		{"POST", "/dig", `{"posX":0,"posY":0,"depth":1}`, 422, `\{"code":602,"message":"licenseID in body is required"\}`, 0},
		{"POST", "/dig", `{"licenseID":0,"posX":0,"posY":0,"depth":5}`, 422,
			`\{"code":1001,"message":"wrong depth: 5 \(should be 1\)"\}`, 1400 * micro},
		{"POST", "/dig", `{"licenseID":0,"posX":0,"posY":0,"depth":11}`, 422, `\{"code":1000,.*\}`, 2 * milli},
		{"POST", "/dig", `{"licenseID":0,"posX":3500,"posY":0,"depth":1}`, 422, `\{"code":1000,.*\}`, milli},
		{"POST", "/dig", `{"licenseID":0,"posX":0,"posY":0,"depth":1}`, 403, `\{"code":403,.*\}`, milli}, // used up by what failed
		{"POST", "/licenses", "[]", 200, `\{"id":1,"digAllowed":3,"digUsed":0\}`, 0},
		{"POST", "/dig", `{"licenseID":1,"posX":0,"posY":0,"depth":100}`, 422, `\{"code":1000,.*\}`, 10900 * micro},

		{"POST", "/cash", `"forged"`, 500, `\{"code":500,"message":"internal error"\}`, 10 * milli},
		{"POST", "/cash", `[]`, 400, `\{"code":400,.*\}`, 0},
		{"GET", "/cash", "", 405, `\{"code":405,"message":"method GET is not allowed, but \[POST\] are"\}`, 0},
		{"DELETE", "/licenses", "", 405, `\{"code":405,"message":".*\[GET,POST\] are"\}`, 0},
		{"GET", "/gold", "", 404, `\{"code":404,"message":"path /gold was not found"\}`, 0},
	})
}

// TestScript_ContentType: JSON and nothing else.
func TestScript_ContentType(t *testing.T) {
	s := start(t, sure())
	for kind, want := range map[string]int{"application/json": 200, "application/json; charset=utf-8": 200,
		"text/plain": 415, "": 415, "application/x-www-form-urlencoded": 415} {
		status, answer := s.sendAs("POST", "/licenses", "[]", kind)
		if status != want || status == 415 && !strings.HasPrefix(answer, `{"code":415,"message":"unsupported media type \"`) {
			t.Errorf("%q: %d %s, want %d", kind, status, answer, want)
		}
	}
}

// TestScript_Treasure: the rows that need one: dug, paid once, its coins spent once.
func TestScript_Treasure(t *testing.T) {
	s := start(t, sure())
	treasure := s.findTreasure()
	token := regexp.QuoteMeta(strconv.Quote(treasure))
	s.play([]exchange{{"POST", "/cash", token, 200, `\[0(,\d+)+\]`, 10 * milli},
		{"POST", "/cash", token, 404, `\{"code":404,"message":"no treasure"\}`, 10 * milli},
		{"GET", "/balance", "", 200, `\{"balance":\d+,"wallet":\[(\d+,)+0\]\}`, 0},
		{"POST", "/licenses", "[0]", 200, `\{"id":\d+,"digAllowed":5,"digUsed":0\}`, 0},
		{"POST", "/licenses", "[0]", 402, `\{"code":402,"message":"bogus coin: 0"\}`, 0},
	})
}

// TestScript_NotDug: a treasure that is still buried is not paid. Its text is from another game of
// the same seed.
func TestScript_NotDug(t *testing.T) {
	token := regexp.QuoteMeta(strconv.Quote(start(t, sure()).findTreasure()))
	start(t, sure()).play([]exchange{
		{"POST", "/cash", token, 409, `\{"code":1003,"message":"treasure is not digged"\}`, 10 * milli},
	})
}

// TestScript_Nothing: a dig where nothing is, which uses its licence and opens the next level.
func TestScript_Nothing(t *testing.T) {
	s := start(t, sure())
	x := 0
	for ; ; x++ {
		if _, answer := s.send("POST", "/explore", fmt.Sprintf(`{"posX":%d,"posY":3,"sizeX":1,"sizeY":1}`, x)); strings.HasSuffix(answer,
			`"amount":0}`) {
			break
		}
	}
	hole := func(depth int) string { return fmt.Sprintf(`{"licenseID":0,"posX":%d,"posY":3,"depth":%d}`, x, depth) }
	s.play([]exchange{
		{"POST", "/licenses", "[]", 200, `\{"id":0,"digAllowed":3,"digUsed":0\}`, 0},
		{"POST", "/dig", hole(1), 404, `\{"code":404,"message":"no treasure"\}`, milli},
		{"GET", "/licenses", "", 200, `\[\{"id":0,"digAllowed":3,"digUsed":1\}\]`, 0},
		{"POST", "/dig", hole(2), 404, `\{"code":404,"message":"no treasure"\}`, 1100 * micro},
		{"POST", "/dig", hole(2), 422, `\{"code":1001,"message":"wrong depth: 2 \(should be 3\)"\}`, 1100 * micro},
		{"GET", "/licenses", "", 200, `\[\]`, 0}, // used up
		{"POST", "/dig", hole(3), 403, `\{"code":403,"message":"no such license"\}`, 1200 * micro},
	})
}

// findTreasure digs as a client does.
func (s *site) findTreasure() string {
	s.t.Helper()
	license, left := 0, 0
	for x := range 3500 {
		_, answer := s.send("POST", "/explore", fmt.Sprintf(`{"posX":%d,"posY":3,"sizeX":1,"sizeY":1}`, x))
		for depth := 1; depth <= 10 && !strings.HasSuffix(answer, `"amount":0}`); depth++ {
			if left == 0 {
				_, issued := s.send("POST", "/licenses", "[]")
				if _, err := fmt.Sscanf(issued, `{"id":%d,"digAllowed":%d`, &license, &left); err != nil {
					s.t.Fatal(issued)
				}
			}
			left--
			status, dug := s.send("POST", "/dig", fmt.Sprintf(`{"licenseID":%d,"posX":%d,"posY":3,"depth":%d}`, license, x, depth))
			var found []string
			if status == 200 {
				if err := json.Unmarshal([]byte(dug), &found); err != nil || len(found) != 1 {
					s.t.Fatalf("dug %s: %v", dug, err)
				}
				return found[0]
			}
		}
	}
	s.t.Fatal("no treasure")
	return ""
}

// TestScript_Refusals: the tenth licence is the last, and too many requests are refused.
func TestScript_Refusals(t *testing.T) {
	r := sure()
	r.PerSec[goldrush.Balance] = 5
	s := start(t, r)
	for range 10 {
		s.send("POST", "/licenses", "[]")
	}
	s.play([]exchange{{"POST", "/licenses", "[]", 409, `\{"code":1002,"message":"no more active licenses allowed"\}`, 0}})
	refused := 0
	for range 150 { // more a second than is let in, and than are let in at once
		if status, answer := s.send("GET", "/balance", ""); status == 429 {
			if refused++; answer != `{"code":429,"message":"too many requests"}` {
				t.Fatal(answer)
			}
		}
	}
	if stats, _ := s.s.Stats(); refused == 0 || int64(refused) != stats.Answers[goldrush.Balance][429] {
		t.Errorf("%d refused, %d counted", refused, stats.Answers[goldrush.Balance][429])
	}
}

// TestScript_Fails: the office fails in the words that were published, and cash as often.
func TestScript_Fails(t *testing.T) {
	r := goldrush.Published()
	r.IssueFails, r.FailsLate, r.CashFails = 1, 0, 1
	s := start(t, r)
	s.play([]exchange{
		{"POST", "/licenses", "[]", 502, `\{"code":502,"message":"RPC failed"\}`, 0},
		{"GET", "/licenses", "", 502, `\{"code":502,"message":"RPC failed"\}`, 0},
		{"POST", "/licenses", "[1]", 402, `\{"code":402,.*\}`, 0}, // who pays is not failed
		{"POST", "/cash", `"x"`, 503, `\{"code":503,"message":"service unavailable"\}`, 0},
	})
	r.FailsLate, r.Late = 1, milli
	start(t, r).play([]exchange{
		{"POST", "/licenses", "[]", 504, `\{"code":504,"message":"RPC timed out"\}`, 0},
		{"GET", "/licenses", "", 504, `\{"code":504,"message":"RPC timed out"\}`, 0},
	})
}

// TestGone: a request whose client has gone away leaves the CPU to others.
func TestGone(t *testing.T) {
	r := sure()
	r.CashCost = time.Hour
	s := start(t, r)
	ctx, leave := context.WithCancel(t.Context())
	req, err := http.NewRequestWithContext(ctx, "POST", s.url+"/cash", strings.NewReader(`"x"`))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	gone := make(chan error, 1)
	go func() { _, err := http.DefaultClient.Do(req); gone <- err }()
	s.await(func(m *mine.Stats) bool { return m.Queue == 1 })
	leave()
	if err := <-gone; err == nil {
		t.Error("answered")
	}
	s.await(func(m *mine.Stats) bool { return m.Queue == 0 && m.InFlight[goldrush.Cash] == 0 })
}

// await waits until the statistics are as wanted.
func (s *site) await(is func(*mine.Stats) bool) {
	s.t.Helper()
	for deadline := time.Now().Add(10 * time.Second); ; {
		stats, _ := s.s.Stats()
		if is(&stats) {
			return
		}
		if time.Now().After(deadline) {
			s.t.Fatalf("still %+v", stats)
		}
	}
}

// TestServe: the game is over in its time, and leaves its result.
func TestServe(t *testing.T) {
	var result, log bytes.Buffer
	c := server.Config{Listen: "127.0.0.1:0", Game: mine.Options{Rules: sure(), Seed: 5, Lasts: time.Millisecond},
		OneRequest: true, Log: &log, Result: &result}
	c.Ready = func(addr string) {
		s := &site{t: t, url: "http://" + addr}
		s.send("GET", "/balance", "")
	}
	ready := c.Ready
	asked := make(chan struct{})
	c.Ready = func(addr string) { go func() { ready(addr); close(asked) }() }
	if err := server.Serve(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	<-asked
	if result.String() != `{"status":"OK","score":0}`+"\n" || !strings.Contains(log.String(), "seed 5: the world is known") {
		t.Errorf("result %slog %s", result.String(), log.String())
	}
	result.Reset()
	c.Game.Rules.CashCost = time.Hour // what is not answered by then gets no answer, not even an empty one
	cut := make(chan error, 1)
	c.Ready = func(addr string) {
		go func() {
			resp, err := http.Post("http://"+addr+"/cash", "application/json", strings.NewReader(`"x"`))
			if err == nil {
				resp.Body.Close()
			}
			cut <- err
		}()
	}
	if err := server.Serve(t.Context(), c); err != nil || result.String() != `{"status":"OK","score":0}`+"\n" {
		t.Errorf("%v, result %s", err, result.String())
	}
	if err := <-cut; err == nil {
		t.Error("a request was answered that takes an hour")
	}
	result.Reset()
	c.Ready, c.Waits = nil, time.Millisecond
	if err := server.Serve(t.Context(), c); err != nil || result.String() != `{"status":"ERR","errors":["no request came"]}`+"\n" {
		t.Errorf("%v, result %s", err, result.String())
	}
}
