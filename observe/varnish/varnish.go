// Package varnish is the source "varnish": the counters of a Varnish cache, as
// varnishstat prints them.
//
// The one idea: what decides whether a cache does anything are a dozen counters of
// its section MAIN, and how much memory is in use for what it keeps and for the rest, so
// those are kept and no others. varnishstat maps the memory of
// the server to read them; the server itself does nothing for it. A call costs
// about 5 ms of CPU.
//
// A server that is not there, and a program that is missing or may not look, cost a
// gap with the reason. Counters start at zero when the server's child is restarted.
//
// # Units and clock
//
// All are counts, but for the bytes of the storages in memory (SMA), of which s0 is the first
// that has no name of its own; those that varnishstat flags "c" only grow, those flagged "g" rise
// and fall. The names are Varnish's own, MAIN.cache_hit.
//
// Sources: varnishstat(1), varnish-counters(7).
package varnish

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/internal/command"
)

// Name is the name of the source.
const Name = "varnish"

const (
	answerLimit = 2 * time.Second
	mostBytes   = 1 << 20 // of the program's output, which has 60 kB
)

// wanted are the counters that are kept.
var wanted = []string{
	BackendConn, BackendFail, BackendRequests, BackendReuse,
	CacheHits, CacheHitGrace, CacheHitmiss, CacheHitpass, CacheMisses,
	ClientRequests, LRUNuked, Objects, Fetches, Passes, Pipes,
	Synths,
	Sessions, SessionsDropped, Threads, ThreadsLimited,
	StorageBytes, TransientBytes,
}

// Options configure which server is read, and how. The zero value reads the one that
// varnishd runs by default.
type Options struct {
	Program string // the system's varnishstat when empty
	Name    string // of the instance, as varnishd's -n; empty: the default one
}

// A Source reads one server. It is not safe for concurrent use.
type Source struct{ o Options }

// New returns a source. Nothing is run before the first Collect.
func New(o Options) *Source {
	return &Source{o: o}
}

// Name returns "varnish".
func (s *Source) Name() string { return Name }

// Collect runs the program. It fails when the program does.
func (s *Source) Collect(ctx context.Context, f *kasoku.Frame) error {
	args := []string{"-j", "-t", "0"}
	if s.o.Name != "" {
		args = append(args, "-n", s.o.Name)
	}
	ctx, cancel := context.WithTimeout(ctx, answerLimit)
	defer cancel()
	spec := command.Spec{Path: s.o.Program, Args: args, CleanEnv: true, DieWithParent: true}
	if s.o.Program == "" {
		spec.Path, spec.Trusted = "varnishstat", true
	}
	text, err := command.Output(ctx, spec, mostBytes)
	if err != nil {
		if errors.Is(err, context.DeadlineExceeded) {
			return fmt.Errorf("varnishstat: no answer within %s", answerLimit)
		}
		return fmt.Errorf("varnish: %w", err)
	}
	counters, err := Parse(text)
	if err != nil {
		return err
	}
	for _, c := range counters {
		unit := "count"
		if strings.HasSuffix(c.Name, "_bytes") {
			unit = "bytes"
		}
		if c.Kind == kasoku.Counter {
			f.Counter(c.Name, "", unit, c.Value)
		} else {
			f.Gauge(c.Name, "", unit, c.Value)
		}
	}
	return nil
}

// A Counter is one of the counters that are kept.
type Counter struct {
	Name  string
	Kind  kasoku.Kind
	Value float64
}

// Parse reads what varnishstat -j prints, of Varnish 6.5 and later with a version
// and the counters in an object of their own, of older ones with the counters beside
// the time. It returns those that are kept, in the order of their names.
func Parse(text []byte) ([]Counter, error) {
	var all map[string]json.RawMessage
	if err := json.Unmarshal(bytes.TrimSpace(text), &all); err != nil {
		return nil, fmt.Errorf("varnishstat: %w", err)
	}
	if inner, ok := all["counters"]; ok {
		all = nil
		if err := json.Unmarshal(inner, &all); err != nil {
			return nil, fmt.Errorf("varnishstat: counters: %w", err)
		}
	}
	several := false // storages: what the first one holds is not all that is kept
	for name := range all {
		several = several || strings.HasSuffix(name, ".g_bytes") && name != StorageBytes && name != TransientBytes
	}
	var out []Counter
	for _, name := range wanted {
		raw, ok := all[name]
		if !ok || several && name == StorageBytes {
			continue
		}
		var c struct {
			Flag  string `json:"flag"`
			Value uint64 `json:"value"`
		}
		if err := json.Unmarshal(raw, &c); err != nil {
			return nil, fmt.Errorf("varnishstat: %s: %w", name, err)
		}
		kind := kasoku.Counter
		if c.Flag == "g" {
			kind = kasoku.Gauge
		}
		out = append(out, Counter{name, kind, float64(c.Value)})
	}
	if !slices.ContainsFunc(out, func(c Counter) bool { return c.Name == "MAIN.client_req" }) {
		return nil, errors.New("varnishstat: no counter MAIN.client_req")
	}
	return out, nil
}
