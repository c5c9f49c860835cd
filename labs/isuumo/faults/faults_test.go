package faults

import (
	"fmt"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/kasoku/kasoku/internal/test/turn"
	"github.com/kasoku/kasoku/load/scenario"
)

// atOnce is how many benchmarks run at once. They mostly wait.
const atOnce = 12

// TestTable: the lab's benchmark catches every fault and names it, says nothing about
// what a service may do, and the contest's own makes of them what the table says, each
// in its [turn]: a run takes seconds.
func TestTable(t *testing.T) {
	if testing.Short() {
		t.Skip("needs a database server, and runs the benchmark many times")
	}
	slots := newSlots(t, atOnce)
	var runs sync.WaitGroup
	defer runs.Wait()
	var alone sync.RWMutex // held by whoever has to run without others
	for _, f := range Table() {
		if !turn.Takes(f.Name) {
			continue
		}
		for _, compat := range []bool{false, true} {
			if compat && f.Contest == ByChance {
				continue
			}
			s := <-slots
			runs.Go(func() {
				defer func() { slots <- s }()
				alone.RLock()
				said, err := s.try(t, &f, compat, short)
				alone.RUnlock()
				// On a busy machine crawlers and uploads come too late for a short run, what is
				// 300 ms old by then is no longer stale, and a rare answer may not come at all.
				for long := 4 * short; err != nil && !(f.silent(compat) && said) && long <= 16*short; long *= 4 {
					alone.Lock()
					said, err = s.try(t, &f, compat, long)
					alone.Unlock()
				}
				if err != nil {
					t.Errorf("%s (%s), compat %v: %v", f.Name, f.Kind, compat, err)
				}
			})
		}
	}
}

// short is how long the load of a run takes: enough for all users to come.
const short = 2 * time.Second

// try runs a benchmark and compares what it has said with the table. said is false when
// it has said nothing but that it had to wait.
func (s *slot) try(t *testing.T, f *Fault, compat bool, long time.Duration) (said bool, err error) {
	res, met, err := s.run(t.Context(), f.Rule(), compat, long)
	if err != nil {
		return false, err
	}
	strict := regexp.MustCompile(f.Strict)
	var msgs []string
	named := false
	for _, e := range res.Errors {
		for _, text := range e.Samples {
			match := f.Strict != "" && strict.MatchString(text)
			named = named || match
			// A busy machine is to blame for timeouts, unless they are the fault.
			if match || e.Code != scenario.Timeout && e.Code != scenario.Trivial {
				msgs = append(msgs, fmt.Sprintf("%.300s (%s)", text, e.Code))
			}
		}
	}
	got := fmt.Sprintf("in %v the fault met %d requests: pass %v, %s, level %d; %d messages: %s", long, met, res.Pass, res.Reason, res.Level, len(msgs), strings.Join(msgs[:min(len(msgs), 4)], " | "))
	switch {
	case f.silent(compat):
		if !res.Pass || len(msgs) > 0 {
			err = fmt.Errorf("%s; want not a word", got)
		}
	case !compat:
		if !named {
			err = fmt.Errorf("%s; want %s", got, f.Strict)
		}
	case res.Pass != (f.Contest == Reported), res.Pass && len(msgs) == 0:
		err = fmt.Errorf("%s; want %s", got, f.Contest)
	}
	return len(msgs) > 0, err
}

// silent reports whether a benchmark must not say a word.
func (f *Fault) silent(compat bool) bool {
	return f.Kind == Liberty || compat && f.Contest == Overlooked
}
