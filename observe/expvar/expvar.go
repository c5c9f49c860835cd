// Package expvar is the source "expvar": the connection pools of programs in Go
// that publish their sql.DBStats.
//
// The one idea: a pool is known by its shape. What a program answers on
// /debug/vars is searched, at any depth, for objects that have the fields of
// sql.DBStats under their Go names; each is a pool, named after where it stands.
// Nothing else of the answer is kept: it holds the program's command line.
//
// A program that does not answer costs a gap with the reason; the others are read
// all the same.
//
// # Units and clock
//
// Times, in nanoseconds there, are seconds; all else are counts as the program
// gives them. The counters start at zero with the program.
//
// Sources: Go's packages expvar and database/sql, DBStats.
package expvar

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/kasoku/kasoku"
)

// Name is the name of the source.
const Name = "expvar"

const (
	// answerLimit is how long a program may take to answer.
	answerLimit = 2 * time.Second
	// mostBytes of an answer are read.
	mostBytes = 4 << 20
	// mostPools of one program are kept, and deepest is how deep they may stand.
	mostPools = 32
	deepest   = 16
)

// A field is one of sql.DBStats.
type field struct {
	name    string
	kind    kasoku.Kind
	seconds bool // given in nanoseconds
}

var fields = []field{
	{name: "MaxOpenConnections"}, {name: "OpenConnections"}, {name: "InUse"}, {name: "Idle"},
	{name: "WaitCount", kind: kasoku.Counter}, {name: "WaitDuration", kind: kasoku.Counter, seconds: true},
	{name: "MaxIdleClosed", kind: kasoku.Counter}, {name: "MaxIdleTimeClosed", kind: kasoku.Counter}, {name: "MaxLifetimeClosed", kind: kasoku.Counter},
}

// needed are the fields without which an object is no pool: older versions of Go
// lack others.
var needed = []string{"OpenConnections", "InUse", "Idle", "WaitCount"}

// Check says why an address is none to read, nil when it is one.
func Check(address string) error {
	u, err := url.Parse(address)
	switch {
	case err != nil:
		return errors.New("no URL")
	case u.Scheme != "http" && u.Scheme != "https" || u.Host == "":
		return errors.New("want a URL such as http://127.0.0.1:6060/debug/vars")
	}
	return nil
}

// A Source reads programs. It is not safe for concurrent use.
type Source struct {
	client    *http.Client
	addresses []string
	pools     int  // most that were seen at once
	answered  bool // some program did
}

// New returns a source for the addresses. Nothing is asked yet.
func New(addresses ...string) *Source {
	// An own transport: the process's shared one would keep connections for others,
	// and go through a proxy.
	return &Source{addresses: slices.Clone(addresses), client: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 1}}}
}

// Name returns "expvar".
func (s *Source) Name() string { return Name }

// Collect reads all programs. It fails when none of them can be read.
func (s *Source) Collect(ctx context.Context, f *kasoku.Frame) error {
	ctx, cancel := context.WithTimeout(ctx, answerLimit)
	defer cancel()
	var errs []error
	total := 0
	for _, a := range s.addresses {
		body, err := s.fetch(ctx, a)
		var pools []Pool
		if err == nil {
			pools, err = Parse(body)
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", a, err))
			continue
		}
		s.answered = true
		total += len(pools)
		s.emit(f, a, pools)
	}
	s.pools = max(s.pools, total)
	if len(errs) == len(s.addresses) {
		return errors.Join(errs...)
	}
	return nil
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
			err = u.Err // the address is told already
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

// emit appends the pools; with several programs each is named after its host too.
func (s *Source) emit(f *kasoku.Frame, address string, pools []Pool) {
	for _, p := range pools {
		name := p.Name
		if len(s.addresses) > 1 {
			if u, err := url.Parse(address); err == nil {
				name = u.Host + " " + name
			}
		}
		for _, x := range fields {
			v, ok := p.Values[x.name]
			if !ok {
				continue
			}
			unit := "count"
			if x.seconds {
				v, unit = v/1e9, "s"
			}
			f.Samples = append(f.Samples, kasoku.Sample{Name: x.name, Instance: name, Unit: unit, Kind: x.kind, Value: v})
		}
	}
}

// Warnings says when programs answered and none had a pool.
func (s *Source) Warnings() []kasoku.Warning {
	if !s.answered || s.pools > 0 {
		return nil
	}
	return []kasoku.Warning{{
		Code: "no-pools", Text: "no connection pool in what " + strings.Join(s.addresses, ", ") + " answered",
		Hint: `publish it: expvar.Publish("db", expvar.Func(func() any { return db.Stats() }))`,
	}}
}

// Close gives up the connections.
func (s *Source) Close() error {
	s.client.CloseIdleConnections()
	return nil
}

// A Pool is one that a program tells of.
type Pool struct {
	Name   string             // where it stands in the answer: "db", "pools.reader"
	Values map[string]float64 // by the names of sql.DBStats; times in nanoseconds
}

// Parse returns the pools in an answer, sorted by name.
func Parse(body []byte) ([]Pool, error) {
	var all any
	if err := json.Unmarshal(body, &all); err != nil {
		return nil, fmt.Errorf("no JSON: %w", err)
	}
	var out []Pool
	find(all, "", deepest, &out)
	return out, nil
}

func find(v any, at string, deep int, out *[]Pool) {
	o, ok := v.(map[string]any)
	if !ok || deep == 0 {
		return
	}
	if p := poolOf(o); p != nil {
		if len(*out) < mostPools {
			*out = append(*out, Pool{Name: name(at), Values: p})
		}
		return
	}
	keys := make([]string, 0, len(o))
	for k := range o {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	for _, k := range keys {
		below := k
		if at != "" {
			below = at + "." + k
		}
		find(o[k], below, deep-1, out)
	}
}

// name keeps what a terminal and a file bear of a name.
func name(at string) string {
	clean := strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || r >= 0x80 && r < 0xa0 || r == '\uFFFD' {
			return -1
		}
		return r
	}, at)
	if r := []rune(clean); len(r) > 80 {
		clean = string(r[:80])
	}
	return clean
}

// poolOf returns the numbers of an object that is a pool, nil of another.
func poolOf(o map[string]any) map[string]float64 {
	out := map[string]float64{}
	for _, f := range fields {
		if v, ok := o[f.name].(float64); ok && v >= 0 {
			out[f.name] = v
		}
	}
	for _, n := range needed {
		if _, ok := out[n]; !ok {
			return nil
		}
	}
	return out
}
