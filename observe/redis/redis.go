// Package redis is the source "redis": what a Redis, or a server that speaks its protocol such
// as Valkey and KeyDB, counts of its work, its keys and its memory.
//
// The one idea: INFO once a second over one kept connection, by a small client ([Conn]) that
// knows four kinds of answers. Of INFO's two hundred fields those are kept that say whether
// the server is the limit: work and misses, keys that went, memory and its limit, the pause of
// a fork.
//
// A server that does not answer, or refuses the password, costs a gap with the reason.
// Counters start at zero when the server is restarted, or receives CONFIG RESETSTAT. The
// commands of this source are in the numbers: two a tick, three with [Options].Commands.
//
// An address that begins with rediss:// is asked over TLS, with the files that redis-cli
// takes.
//
// # Units and clock
//
// Names are Redis's own, but values are in base units: memory in bytes, and what Redis gives
// in microseconds in seconds (latest_fork, cmdstat.time). Instances are databases (db0) for
// keys and expires, and commands for cmdstat.
//
// Sources: Redis, "INFO", "SLOWLOG LEN", "AUTH" and "Redis serialization protocol
// specification" (RESP2), "TLS Support".
package redis

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/kasoku/kasoku"
)

// Name is the name of the source.
const Name = "redis"

const (
	answerLimit   = 2 * time.Second
	mostDatabases = 32
	mostCommands  = 64
)

// A field is a line of INFO that is kept.
type field struct {
	info  string // its name there
	kind  kasoku.Kind
	unit  string
	name  string  // of the series, where it is another one
	scale float64 // to the unit; 0: it is in the unit
}

var fields = byName([]field{
	{info: TotalCommandsProcessed, kind: kasoku.Counter, unit: "count"},
	{info: TotalConnectionsReceived, kind: kasoku.Counter, unit: "count"},
	{info: RejectedConnections, kind: kasoku.Counter, unit: "count"},
	{info: KeyspaceHits, kind: kasoku.Counter, unit: "count"},
	{info: KeyspaceMisses, kind: kasoku.Counter, unit: "count"},
	{info: EvictedKeys, kind: kasoku.Counter, unit: "count"},
	{info: ExpiredKeys, kind: kasoku.Counter, unit: "count"},
	{info: TotalForks, kind: kasoku.Counter, unit: "count"},
	{info: TotalErrorReplies, kind: kasoku.Counter, unit: "count"},
	{info: TotalNetInputBytes, kind: kasoku.Counter, unit: "bytes"},
	{info: TotalNetOutputBytes, kind: kasoku.Counter, unit: "bytes"},
	{info: UsedCPUSystem, kind: kasoku.Counter, unit: "s"},
	{info: UsedCPUUser, kind: kasoku.Counter, unit: "s"},
	{info: ConnectedClients, unit: "count"},
	{info: BlockedClients, unit: "count"},
	{info: Maxclients, unit: "count"},
	{info: ConnectedSlaves, unit: "count"},
	{info: UsedMemory, unit: "bytes"},
	{info: UsedMemoryRSS, unit: "bytes"},
	{info: Maxmemory, unit: "bytes"},
	{info: MemFragmentationRatio, unit: "ratio"},
	{info: RdbBgsaveInProgress, unit: "count"},
	{info: AofRewriteInProgress, unit: "count"},
	{info: Loading, unit: "count"},
	{info: "latest_fork_usec", unit: "s", name: LatestFork, scale: 1e-6},
})

func byName(list []field) map[string]field {
	out := make(map[string]field, len(list))
	for _, x := range list {
		if x.name == "" {
			x.name = x.info
		}
		if x.scale == 0 {
			x.scale = 1
		}
		out[x.info] = x
	}
	return out
}

// Options configure which server is read, and how.
type Options struct {
	Server
	// Commands adds the calls and the time of each command that was called:
	// cmdstat.calls and cmdstat.time.
	Commands bool
}

// A Source reads one server. It is not safe for concurrent use.
type Source struct {
	o       Options
	conn    *Conn
	slowlog error // why its length is not reported
	names   names
}

// New returns a source. It connects at the first Collect.
func New(o Options) (*Source, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	return &Source{o: o, names: names{}}, nil
}

// Name returns "redis".
func (s *Source) Name() string { return Name }

// Collect asks the server. It fails when there is no answer, or another one.
func (s *Source) Collect(ctx context.Context, f *kasoku.Frame) error {
	ctx, cancel := context.WithTimeout(ctx, answerLimit)
	defer cancel()
	err := s.collect(ctx, f)
	if err != nil && s.conn != nil {
		_ = s.conn.Close() // it is in the middle of an answer
		s.conn = nil
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("redis: no answer within %s", answerLimit)
	}
	return err
}

func (s *Source) collect(ctx context.Context, f *kasoku.Frame) (err error) {
	if s.conn == nil {
		if s.conn, err = Dial(ctx, s.o.Server); err != nil {
			return err
		}
	}
	text, err := s.conn.Do(ctx, "INFO")
	if err != nil {
		return hinted(err)
	}
	if err := s.info(text, f); err != nil {
		return err
	}
	if s.slowlog == nil {
		text, err = s.conn.Do(ctx, "SLOWLOG", "LEN")
		var refused *RefusedError
		if errors.As(err, &refused) {
			s.slowlog = err
		} else if err != nil {
			return err
		} else if n, ok := number(text); ok {
			f.Gauge(SlowlogLen, "", "count", n)
		}
	}
	if !s.o.Commands {
		return nil
	}
	if text, err = s.conn.Do(ctx, "INFO", "commandstats"); err != nil {
		return hinted(err)
	}
	s.commands(text, f)
	return nil
}

// info appends what is kept of INFO.
func (s *Source) info(text []byte, f *kasoku.Frame) error {
	found, databases := false, 0
	for name, value, rest := next(text); name != nil; name, value, rest = next(rest) {
		if x, ok := fields[string(name)]; ok {
			v, ok := number(value)
			if !ok {
				return fmt.Errorf("redis: INFO: %q is no number: %.40q", name, value)
			}
			f.Samples = append(f.Samples, kasoku.Sample{Name: x.name, Kind: x.kind, Unit: x.unit, Value: v * x.scale})
			found = true
			continue
		}
		// db0:keys=1,expires=0,avg_ttl=0
		if databases < mostDatabases && isDatabase(name) {
			databases++
			keys, ok := part(value, "keys")
			expires, _ := part(value, "expires")
			if ok {
				instance := s.names.of(name)
				f.Gauge(Keys, instance, "count", keys)
				f.Gauge(Expires, instance, "count", expires)
			}
		}
	}
	if !found {
		return fmt.Errorf("redis: INFO: none of its fields: %.80q", text)
	}
	return nil
}

// commands appends what INFO commandstats reports:
//
//	cmdstat_get:calls=21,usec=175,usec_per_call=8.33,rejected_calls=0,failed_calls=0
func (s *Source) commands(text []byte, f *kasoku.Frame) {
	n := 0
	for name, value, rest := next(text); name != nil; name, value, rest = next(rest) {
		command, ok := bytes.CutPrefix(name, []byte("cmdstat_"))
		if !ok || len(command) > 40 || n >= mostCommands || !plain(command) {
			continue
		}
		calls, ok := part(value, "calls")
		usec, ok2 := part(value, "usec")
		if !ok || !ok2 {
			continue
		}
		n++
		instance := s.names.of(command)
		f.Counter(CmdstatCalls, instance, "count", calls)
		f.Counter(CmdstatTime, instance, "s", usec/1e6)
	}
}

// Warnings reports when the length of the slow log could not be read.
func (s *Source) Warnings() []kasoku.Warning {
	if s.slowlog == nil {
		return nil
	}
	return []kasoku.Warning{{Code: "redis-slowlog", Text: "the length of Redis's slow log is missing: " +
		s.slowlog.Error()}}
}

// Close gives the connection up.
func (s *Source) Close() error {
	if s.conn == nil {
		return nil
	}
	err := s.conn.Close()
	s.conn = nil
	return err
}

// next returns the first field of INFO and the text after it; no name when there
// is none any more.
func next(text []byte) (name, value, rest []byte) {
	for len(text) > 0 {
		var line []byte
		line, text, _ = bytes.Cut(text, []byte{'\n'})
		name, value, ok := bytes.Cut(bytes.TrimSuffix(line, []byte{'\r'}), []byte{':'})
		if ok && len(name) > 0 && name[0] != '#' {
			return name, value, text
		}
	}
	return nil, nil, nil
}

// part returns a number in a list of NAME=NUMBER.
func part(list []byte, name string) (float64, bool) {
	for len(list) > 0 {
		item, rest, _ := bytes.Cut(list, []byte{','})
		list = rest
		key, value, ok := bytes.Cut(item, []byte{'='})
		if ok && string(key) == name {
			return number(value)
		}
	}
	return 0, false
}

// number reads a value that is finite and not negative.
func number(b []byte) (float64, bool) {
	if len(b) == 0 || len(b) > 30 {
		return 0, false
	}
	v, err := strconv.ParseFloat(string(b), 64)
	return v, err == nil && v >= 0 && v < 1e300
}

func isDatabase(name []byte) bool {
	if len(name) < 3 || len(name) > 8 || string(name[:2]) != "db" {
		return false
	}
	for _, c := range name[2:] {
		if c < '0' || c > '9' {
			return false
		}
	}
	return true
}

// plain reports whether a name may be shown as it is.
func plain(name []byte) bool {
	for _, c := range name {
		if c <= ' ' || c >= 0x7f {
			return false
		}
	}
	return len(name) > 0
}

// names keeps one string for each name, so that a tick makes none.
type names map[string]string

func (n names) of(b []byte) string {
	if s, ok := n[string(b)]; ok {
		return s
	}
	s := string(b)
	n[s] = s
	return s
}
