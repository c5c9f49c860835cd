package server_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/kasoku/kasoku/labs/goldrush"
	"github.com/kasoku/kasoku/labs/goldrush/mine"
	"github.com/kasoku/kasoku/labs/goldrush/server"
)

// bodies are requests that the calls take.
var bodies = [goldrush.Calls]string{goldrush.Issue: "[]", goldrush.Explore: `{"posX":0,"posY":0,"sizeX":3500,"sizeY":3500}`,
	goldrush.Dig: `{"licenseID":0,"posX":0,"posY":0,"depth":100}`, goldrush.Cash: `"x"`}

// A crowd asks a server without a network, all at once, on the clock of a bubble.
type crowd struct {
	s    *server.Server
	ctx  context.Context
	asks sync.WaitGroup

	mu      sync.Mutex
	answers map[string]int // "CALL STATUS BODY after TIME"
}

func (c *crowd) ask(call goldrush.Call, n int) {
	for range n {
		c.asks.Go(func() {
			method, path := call.Route()
			r := httptest.NewRequestWithContext(c.ctx, method, path, strings.NewReader(bodies[call]))
			r.Header.Set("Content-Type", "application/json")
			w, asked := httptest.NewRecorder(), time.Now()
			defer func() { _ = recover() }() // of who is gone there is no answer
			c.s.ServeHTTP(w, r)
			c.mu.Lock()
			defer c.mu.Unlock()
			c.answers[fmt.Sprintf("%s %d %s after %s", call, w.Code, strings.TrimSpace(w.Body.String()), time.Since(asked))]++
		})
	}
}

// inCrowd runs a crowd for a while of its clock, and returns what was answered.
func inCrowd(t *testing.T, while time.Duration, asks func(*crowd)) (answers map[string]int) {
	t.Helper()
	synctest.Test(t, func(*testing.T) {
		ctx, end := context.WithCancel(context.Background())
		c := &crowd{s: server.New(mine.Options{Rules: sure(), Seed: 42}), ctx: ctx, answers: map[string]int{}}
		var runs sync.WaitGroup
		runs.Go(func() { c.s.Run(ctx) })
		asks(c)
		time.Sleep(while)
		end()
		c.asks.Wait()
		runs.Wait()
		answers = c.answers
	})
	return answers
}

// TestScript_Waits: who waits for the CPU too long is turned away, an exploration after one second and a dig
// after two.
func TestScript_Waits(t *testing.T) {
	got := inCrowd(t, 2500*time.Millisecond, func(c *crowd) {
		c.ask(goldrush.Cash, 290) // 2.9 s of work, done in turns with theirs
		c.ask(goldrush.Explore, 1)
		c.ask(goldrush.Dig, 1)
	})
	for _, want := range []string{"explore 503 {\"code\":503,\"message\":\"service unavailable\"} after 1s",
		"dig 503 {\"code\":503,\"message\":\"service unavailable\"} after 2s"} {
		if got[want] != 1 {
			t.Errorf("%q did not come: %v", want, got)
		}
	}
}

// TestScript_Limits: of each call as many are let in at once as published, and each beyond those is
// refused at once, in the published words.
func TestScript_Limits(t *testing.T) {
	for call, most := range map[goldrush.Call]int{goldrush.Balance: 100, goldrush.Licenses: 100, goldrush.Issue: 350,
		goldrush.Explore: 1000, goldrush.Dig: 1000, goldrush.Cash: 300} {
		got := inCrowd(t, time.Nanosecond, func(c *crowd) { c.ask(call, most+7) })
		if n := got[call.String()+` 429 {"code":429,"message":"too many requests"} after 0s`]; n != 7 {
			t.Errorf("%s: %d of %d at once are refused, want 7: %v", call, n, most+7, got)
		}
	}
	if got := inCrowd(t, time.Nanosecond, func(c *crowd) { c.ask(goldrush.Health, 5000) }); got[`health 200 "OK" after 0s`] != 5000 {
		t.Errorf("%v", got)
	}
}

// TestScript_KeepAlive: connections are kept, and each has one request where that is asked for.
func TestScript_KeepAlive(t *testing.T) {
	for _, oneRequest := range []bool{false, true} {
		ctx, end := context.WithCancel(t.Context())
		answered := make(chan error, 1)
		var log strings.Builder
		err := server.Serve(ctx, server.Config{Listen: "127.0.0.1:0", Game: mine.Options{Rules: sure(), Seed: 5},
			OneRequest: oneRequest, Log: &log, Result: &log, Ready: func(addr string) {
				go func() {
					defer end()
					resp, err := http.Get("http://" + addr + "/health-check")
					if err == nil {
						err = resp.Body.Close()
						if resp.Close != oneRequest {
							err = fmt.Errorf("the connection closes: %t", resp.Close)
						}
					}
					answered <- err
				}()
			}})
		if err != nil {
			t.Error(err)
		}
		if err := <-answered; err != nil {
			t.Errorf("one request a connection %t: %v", oneRequest, err)
		}
	}
}
