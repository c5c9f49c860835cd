// Package expvar is the source "expvar": what programs in Go publish of themselves:
// the connection pools of their databases, memory and garbage collection, goroutines
// and whatever they publish of runtime/metrics.
//
// The one idea: a thing is known by its shape. What a program answers on /debug/vars
// is searched, at any depth, for objects that have the fields of sql.DBStats or of
// runtime.MemStats under their Go names, for a number that is called goroutines, and
// for names of runtime/metrics. So is what a client of a service with limits counts of its
// requests and permits, by the names that docs/profiles.md has. Each is named after where it stands. Nothing else of
// the answer is kept: it holds the program's command line.
//
// All programs are asked side by side. That one does not answer is a warning: the others
// wait for it a part of a second at one tick of ten. That none does is a gap with the
// reason.
//
// # Units and clock
//
// Times are seconds and sizes bytes; all else are counts as the program gives them.
// The counters start at zero with the program. Of a histogram "count" is a counter of
// all that it holds; "p50", "p99" and "max" are of what came since the tick before, as
// the upper edge of the bucket, which Go makes up to a quarter larger than what is in
// it; they are missing when nothing came. PauseMax is the longest pause of the
// collections since the tick before. GCCPUFraction is the runtime's own figure since
// the program's start; the counter /cpu/classes/gc/total:cpu-seconds, where a program
// publishes it, covers each second.
//
// Sources: Go's packages expvar, database/sql (DBStats), runtime (MemStats) and
// runtime/metrics.
package expvar

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/internal/contain"
	"github.com/kasoku/kasoku/internal/onehost"
)

// Name is the name of the source.
const Name = "expvar"

const (
	// answerLimit is how long a program may take to answer.
	answerLimit = 2 * time.Second
	// sharedLimit is how long one of several may take: all wait for the slowest, and are to be
	// read each second. One that takes longer is left out for restTicks ticks.
	sharedLimit = 700 * time.Millisecond
	restTicks   = 9
	// mostBytes of an answer are read.
	mostBytes = 4 << 20
)

// A Source reads programs. It is not safe for concurrent use.
type Source struct {
	client    *http.Client
	addresses []string
	attempts  []attempts // of each address
	answered  bool       // some program did
	found     bool       // something in an answer

	collections map[string]float64      // by instance, as of the tick before
	histograms  []map[string]*histogram // of each address, as of the tick before, by place and name
}

// attempts is how often an address was asked in vain, and the last reason.
type attempts struct {
	asked, failed int
	err           error
	rests         int // ticks for which it is not asked
}

// New returns a source for the addresses. Nothing is asked yet.
func New(addresses ...string) *Source {
	return &Source{
		addresses: slices.Clone(addresses), attempts: make([]attempts, len(addresses)),
		histograms: make([]map[string]*histogram, len(addresses)),
		client:     onehost.NewClient(&http.Transport{MaxIdleConnsPerHost: 1}, 0),
	}
}

// Name returns "expvar".
func (s *Source) Name() string { return Name }

// Collect reads all programs, side by side. It fails when none of them can be read.
func (s *Source) Collect(ctx context.Context, f *kasoku.Frame) error {
	type answer struct {
		found []Found
		err   error
	}
	answers := make([]answer, len(s.addresses))
	var all sync.WaitGroup
	for i, a := range s.addresses {
		if s.attempts[i].rests == 0 {
			all.Go(func() {
				answers[i].err = contain.Do(contain.Part{Kind: contain.Source, Name: Name}, func() (err error) {
					answers[i].found, err = s.read(ctx, a)
					return err
				})
			})
		}
	}
	all.Wait()
	var errs []error
	for i, a := range s.addresses {
		t, found := &s.attempts[i], answers[i].found
		t.asked++
		if t.rests > 0 {
			t.rests, t.failed = t.rests-1, t.failed+1
			errs = append(errs, fmt.Errorf("%s: %w", a, t.err))
			continue
		}
		if err := answers[i].err; err != nil {
			t.failed, t.err = t.failed+1, err
			if errors.Is(err, context.DeadlineExceeded) && len(s.addresses) > 1 {
				t.rests = restTicks
			}
			errs = append(errs, fmt.Errorf("%s: %w", a, err))
			continue
		}
		s.answered = true
		s.found = s.found || len(found) > 0
		s.emit(f, i, found)
	}
	if len(errs) == len(s.addresses) {
		return errors.Join(errs...)
	}
	return nil
}

// read asks one program.
func (s *Source) read(ctx context.Context, address string) ([]Found, error) {
	limit := answerLimit
	if len(s.addresses) > 1 {
		limit = sharedLimit
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	body, err := s.fetch(ctx, address)
	if err != nil {
		return nil, err
	}
	return Parse(body)
}

func (s *Source) fetch(ctx context.Context, address string) (body []byte, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, err
	}
	res, err := s.client.Do(req)
	if err != nil {
		var u *url.Error
		if errors.As(err, &u) {
			err = u.Err // the address is reported already
		}
		return nil, err
	}
	defer func() { err = errors.Join(err, res.Body.Close()) }()
	if res.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("answered %s", res.Status)
	}
	body, err = io.ReadAll(io.LimitReader(res.Body, mostBytes+1))
	if err == nil && len(body) > mostBytes {
		err = fmt.Errorf("answered more than %d bytes", mostBytes)
	}
	return body, err
}

// emit appends what was found; with several programs each is named after its host too.
func (s *Source) emit(f *kasoku.Frame, address int, found []Found) {
	now := map[string]*histogram{}
	for i := range found {
		x := &found[i]
		instance := s.instance(address, x.Place)
		for _, v := range x.Values {
			f.Samples = append(f.Samples, kasoku.Sample{Name: v.Name, Instance: instance, Unit: v.Unit, Kind: v.Kind,
				Value: v.Value})
		}
		for j := range x.histograms {
			h := &x.histograms[j]
			key := x.Place + "\n" + h.name
			emitQuantiles(f, instance, h, s.histograms[address][key])
			now[key] = h
		}
		s.emitPause(f, instance, x.pauses)
	}
	s.histograms[address] = now
}

// instance names what stands at a place of a program's answer.
func (s *Source) instance(address int, place string) string {
	if len(s.addresses) == 1 {
		return place
	}
	u, err := url.Parse(s.addresses[address])
	if err != nil {
		return place
	}
	host := u.Host
	if u.Port() == "" {
		host += map[string]string{"http": ":80", "https": ":443"}[u.Scheme] // so that it never equals a place
	}
	return strings.TrimSpace(host + " " + place)
}

// emitPause appends the longest pause of the collections since the tick before.
func (s *Source) emitPause(f *kasoku.Frame, instance string, p *pauses) {
	if p == nil {
		return
	}
	if longest, ok := p.since(s.collections[instance]); ok {
		f.Gauge("PauseMax", instance, "s", longest)
	}
	if s.collections == nil {
		s.collections = map[string]float64{}
	}
	s.collections[instance] = p.collections
}

// Warnings describes which programs could not be read although others could, and when
// programs answered and none had figures. That none could be read, gaps say.
func (s *Source) Warnings() (out []kasoku.Warning) {
	if !s.answered {
		return nil
	}
	for i, t := range s.attempts {
		if len(s.attempts) > 1 && t.failed > 0 {
			out = append(out, kasoku.Warning{
				Code: "expvar-partial", Text: fmt.Sprintf("%s was not read at %d of %d ticks: %v", s.addresses[i],
					t.failed, t.asked, t.err),
				Hint: "does the program run, and serve expvar at this address? [watch] expvar lists the addresses",
			})
		}
	}
	if s.found {
		return out
	}
	return append(out, kasoku.Warning{
		Code: "no-pools", Text: "no connection pool and no memory in what " + strings.Join(s.addresses,
			", ") + " answered",
		Hint: `publish it: expvar.Publish("db", expvar.Func(func() any { return db.Stats() }))`,
	})
}

// Close gives up the connections.
func (s *Source) Close() error {
	s.client.CloseIdleConnections()
	return nil
}
