package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"sync"
	"time"

	"github.com/kasoku/kasoku/load/scenario/agent"
	"golang.org/x/sys/unix"
)

// A load is what one client does.
type load struct {
	by, kind, url string
	keep          bool // each answer has memory of its own
	n, users      int
}

// order is the body of a POST.
var order = []byte(`{"email":"isucon@example.com"}`)

// A user sends one request after the other.
type user func(ctx context.Context) (status int, err error)

// run makes the requests and returns the CPU time of this process, without that
// of the first request of each user.
func (l load) run(ctx context.Context) (time.Duration, error) {
	users := make([]user, l.users)
	for i := range users {
		var err error
		if users[i], err = l.user(); err != nil {
			return 0, err
		}
		if err := users[i].send(ctx); err != nil {
			return 0, err
		}
	}
	began := processCPU()
	errs := make(chan error, l.users)
	var wg sync.WaitGroup
	for i, one := range users {
		wg.Go(func() {
			for range (l.n + i) / l.users {
				if err := one.send(ctx); err != nil {
					errs <- err
					return
				}
			}
		})
	}
	wg.Wait()
	cpu := processCPU() - began
	select {
	case err := <-errs:
		return 0, err
	default:
		return cpu, nil
	}
}

// send sends one request, which must succeed.
func (u user) send(ctx context.Context) error {
	status, err := u(ctx)
	if err == nil && status != http.StatusOK {
		err = fmt.Errorf("status %d", status)
	}
	return err
}

func (l load) user() (user, error) {
	if l.by == "agent" {
		return l.byAgent()
	}
	return l.byNetHTTP(), nil
}

func (l load) byAgent() (user, error) {
	a, err := agent.New(agent.Options{BaseURL: l.url})
	if err != nil {
		return nil, err
	}
	r := &agent.Request{Path: "/list"}
	if l.kind == http.MethodPost {
		r = &agent.Request{Method: l.kind, Path: "/buy", ContentType: "application/json", Body: order}
	}
	return func(ctx context.Context) (int, error) {
		res, err := a.Do(ctx, r)
		if err != nil {
			return 0, err
		}
		status := res.Status
		if !l.keep {
			res.Release()
		}
		return status, nil
	}, nil
}

// byNetHTTP is a client as one writes it, with the timeout that an agent has.
func (l load) byNetHTTP() user {
	c := http.Client{Transport: &http.Transport{}, Timeout: agent.DefaultTimeout}
	var buf bytes.Buffer
	return func(ctx context.Context) (int, error) {
		path, body := "/list", []byte(nil)
		if l.kind == http.MethodPost {
			path, body = "/buy", order
		}
		req, err := http.NewRequestWithContext(ctx, l.kind, l.url+path, bytes.NewReader(body))
		if err != nil {
			return 0, err
		}
		if len(body) > 0 {
			req.Header.Set("Content-Type", "application/json")
		}
		resp, err := c.Do(req)
		if err != nil {
			return 0, err
		}
		defer resp.Body.Close()
		if l.keep {
			_, err = io.ReadAll(resp.Body)
		} else {
			buf.Reset()
			_, err = buf.ReadFrom(resp.Body)
		}
		return resp.StatusCode, err
	}
}

// processCPU returns the CPU time of this process.
func processCPU() time.Duration {
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(unix.TimevalToNsec(u.Utime) + unix.TimevalToNsec(u.Stime))
}
