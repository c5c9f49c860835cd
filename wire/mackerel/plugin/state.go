package plugin

import (
	"crypto/sha1"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/kasoku/kasoku/wire/mackerel/program"
)

// maxAge is how old the counters of the run before may be.
const maxAge = 600 * time.Second

// maxAhead is how far in the future a state may be before it is that of another
// clock. Up to that it is a recent one: nothing is printed, as the helper library does.
const maxAhead = time.Minute

// lastTimeKey is where the state keeps its time, among the values.
const lastTimeKey = "_lastTime"

// errRecent means that the state is less than a second old: a difference would be
// divided by zero.
var errRecent = errors.New("state was recently updated")

// StateName returns the name that the helper library gives to a state file:
// command lines that differ have different ones. args begins with the program's
// name.
func StateName(prefix string, args []string) string {
	return fmt.Sprintf("mackerel-plugin-%s-%x", prefix, sha1.Sum([]byte(strings.Join(args[1:], " "))))
}

// statePath is the state file of this plugin.
func (p *Plugin) statePath() string {
	if p.StateFile != "" {
		return p.StateFile
	}
	args := p.Args
	if len(args) == 0 {
		args = os.Args
	}
	prefix := p.Prefix
	if prefix == "" {
		name := regexp.MustCompile(`[^-_.A-Za-z0-9]`).ReplaceAllString(filepath.Base(args[0]), "_")
		prefix = strings.TrimPrefix(name, "mackerel-plugin-")
	}
	return filepath.Join(program.WorkDir(p.getenv), StateName(prefix, args))
}

// hasDiff reports whether the plugin needs a state at all.
func (p *Plugin) hasDiff() bool {
	return slices.ContainsFunc(p.Graphs, func(g Graph) bool {
		return slices.ContainsFunc(g.Metrics, func(m Metric) bool { return m.Diff })
	})
}

// A state is what the run before saw; it is empty on the first run.
type state struct {
	values map[string]float64
	at     time.Time
}

// lastState reads the state; with an error that is not errRecent it is empty.
func (p *Plugin) lastState(now time.Time) (state, error) {
	if !p.hasDiff() {
		return state{}, nil
	}
	b, err := program.ReadFile(p.statePath())
	if errors.Is(err, fs.ErrNotExist) {
		return state{}, nil
	}
	if err != nil {
		return state{}, err
	}
	s, err := parseState(b)
	if err != nil {
		return state{}, fmt.Errorf("%s: %w", p.statePath(), err)
	}
	switch age := now.Sub(s.at); {
	case age < -maxAhead:
		return state{}, fmt.Errorf("%s: it is %s from the future", p.statePath(), -age.Truncate(time.Second))
	case age < time.Second:
		return state{}, errRecent
	}
	return s, nil
}

// parseState reads the JSON of a state.
func parseState(b []byte) (state, error) {
	var values map[string]float64
	if err := json.Unmarshal(b, &values); err != nil {
		return state{}, err
	}
	at, ok := values[lastTimeKey]
	if !ok || math.Abs(at) > 1<<40 { // the year 36812
		return state{}, fmt.Errorf("no time in %s", lastTimeKey)
	}
	delete(values, lastTimeKey)
	return state{values, time.Unix(int64(at), 0)}, nil
}

// saveState keeps the values for the next run.
func (p *Plugin) saveState(stat map[string]float64, now time.Time) error {
	if !p.hasDiff() {
		return nil
	}
	keep := maps.Clone(stat)
	if keep == nil {
		keep = map[string]float64{}
	}
	maps.DeleteFunc(keep, func(_ string, v float64) bool { return math.IsInf(v, 0) || math.IsNaN(v) })
	keep[lastTimeKey] = float64(now.Unix())
	b, err := json.Marshal(keep)
	if err != nil {
		return err
	}
	return program.WriteFile(p.statePath(), append(b, '\n'))
}
