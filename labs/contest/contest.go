// Package contest is what the benchmarks of the small labs have in common: how they are
// asked for, run and printed, and a user who asks a service for something.
//
// The one idea: a benchmark knows a service by its answers alone. So nothing here and in
// the benchmarks that use it is shared with a service, and a service that answers wrongly
// is found out.
//
// Start at [Run]; [User] sends requests.
package contest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/kasoku/kasoku/load"
	"github.com/kasoku/kasoku/load/scenario"
	"github.com/kasoku/kasoku/load/scenario/agent"
)

// Options are how a benchmark is run. Target is needed.
type Options struct {
	Target   string        // base URL of the service
	Duration time.Duration // of the load
	Seed     uint64        // of all that is random; 0: one is drawn
	Permit   load.Permit

	OnProgress func(scenario.Progress) // may be nil
	Sink       scenario.Sink           // may be nil
}

// Wrong is the code of an answer whose content is not right.
const Wrong scenario.Code = "wrong answer"

// Run runs a scenario by the rules of its contest. An error says that it could not be run; a
// service that fails is in the result.
func Run(ctx context.Context, o *Options, rules scenario.Options, s scenario.Scenario) (*scenario.Result, error) {
	rules.LoadTime, rules.Seed, rules.OnProgress, rules.Sink = o.Duration, o.Seed, o.OnProgress, o.Sink
	b, err := scenario.New(rules)
	if err != nil {
		return nil, err
	}
	if _, err := agent.New(agent.Options{BaseURL: o.Target, Permit: o.Permit}); err != nil {
		return nil, err
	}
	b.Add(s)
	return b.Run(ctx), nil
}

const (
	initializePath = "/initialize"
	// initializeWithin is how long it may take in the contests.
	initializeWithin = 20 * time.Second
)

// Initialize has the service begin anew.
func Initialize(ctx context.Context, o *Options, step *scenario.Step) error {
	u, err := NewUser(o, step, "", initializeWithin)
	if err != nil {
		return err
	}
	defer u.Close()
	var said struct {
		Language string `json:"language"`
	}
	err = u.JSON(ctx, &agent.Request{Step: "POST " + initializePath, Method: http.MethodPost, Path: initializePath},
		&said)
	step.SetLanguage(said.Language)
	return scenario.Fail(scenario.Critical, err)
}

// A User has a browser. It may ask for several things at once.
type User struct {
	agent  *agent.Agent
	header http.Header
	step   *scenario.Step // that initialize is reported to
}

// NewUser returns a user with a cookie, or without one, who waits so long for an answer.
func NewUser(o *Options, step *scenario.Step, cookie string, timeout time.Duration) (*User, error) {
	return newUser(o, step, step.Record, cookie, timeout)
}

// NewReporter returns a user whose requests may fail: those that do are none of the load's.
func NewReporter(o *Options, step *scenario.Step, timeout time.Duration) (*User, error) {
	return newUser(o, step, func(r scenario.Record) {
		if r.Err == "" {
			step.Record(r)
		}
	}, "", timeout)
}

func newUser(o *Options, step *scenario.Step, record func(scenario.Record), cookie string,
	timeout time.Duration,
) (*User, error) {
	h := http.Header{}
	if cookie != "" {
		h.Set("Cookie", cookie)
	}
	a, err := agent.New(agent.Options{BaseURL: o.Target, Timeout: timeout, NoCookies: true, Permit: o.Permit,
		Record: record})
	return &User{a, h, step}, scenario.Fail(scenario.Internal, err)
}

// Close closes the user's connections.
func (u *User) Close() { u.agent.Close() }

// Answer sends a request and calls read with the answer. What read returns becomes an error of
// the code [Wrong].
func (u *User) Answer(ctx context.Context, r *agent.Request, read func(status int, body []byte) error) error {
	r.Header = u.header
	res, err := u.agent.Do(ctx, r)
	if err != nil {
		return err
	}
	defer res.Release()
	if r.Method == http.MethodPost && r.Path == initializePath && res.Status == http.StatusOK {
		u.step.Initialized(r.Step, res.Body)
	}
	err = read(res.Status, res.Body)
	if status, ok := errors.AsType[*statusError](err); ok {
		return scenario.Errorf(scenario.Application, "%s: status %d, expected %d", r.Step, status.got, status.want)
	}
	if err != nil {
		return scenario.Errorf(Wrong, "%s: %w", r.Step, err)
	}
	return nil
}

// A statusError is a status that is not the one that is wanted.
type statusError struct{ got, want int }

func (e *statusError) Error() string { return fmt.Sprintf("status %d, expected %d", e.got, e.want) }

// Ask sends a request and calls read, unless it is nil, with the body of the answer, which has
// the status that is wanted. What read returns becomes an error of the code [Wrong].
func (u *User) Ask(ctx context.Context, r *agent.Request, want int, read func(body []byte) error) error {
	return u.Answer(ctx, r, func(status int, body []byte) error {
		if status != want {
			return &statusError{status, want}
		}
		if read == nil {
			return nil
		}
		return read(body)
	})
}

// JSON sends a request whose answer is 200 with JSON, and reads it.
func (u *User) JSON(ctx context.Context, r *agent.Request, into any) error {
	return u.Answer(ctx, r, func(status int, body []byte) error { return ReadJSON(status, body, into) })
}

// ReadJSON reads an answer that is 200 with JSON, without fields that are not known.
func ReadJSON(status int, body []byte, into any) error {
	if status != http.StatusOK {
		return &statusError{status, http.StatusOK}
	}
	d := json.NewDecoder(bytes.NewReader(body))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		return fmt.Errorf("not the JSON that is expected: %w", err)
	}
	return nil
}

// Together does several things at once, and returns the first of their errors.
func Together(n int, do func(i int) error) error {
	errs := make([]error, n)
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() { errs[i] = do(i) })
	}
	wg.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}
