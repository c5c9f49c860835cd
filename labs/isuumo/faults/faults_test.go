package faults

import (
	"fmt"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/kasoku/kasoku/scenario"
)

// atOnce is how many benchmarks run at once. They mostly wait.
const atOnce = 16

// TestTable: the lab's benchmark catches every fault and names it, says nothing about
// what a service may do, and the contest's own makes of them what the table says.
func TestTable(t *testing.T) {
	if testing.Short() {
		t.Skip("needs a database server, and runs the benchmark many times")
	}
	slots := newSlots(t, atOnce)
	var runs sync.WaitGroup
	defer runs.Wait()
	for _, f := range Table() {
		for _, compat := range []bool{false, true} {
			if compat && f.Contest == ByChance {
				continue
			}
			s := <-slots
			runs.Go(func() {
				defer func() { slots <- s }()
				if err := s.try(t, &f, compat); err != nil {
					t.Errorf("%s (%s), compat %v: %v", f.Name, f.Kind, compat, err)
				}
			})
		}
	}
}

// try runs a benchmark, and again for longer when it did not find what it has to: on a
// busy machine crawlers and uploads may come too late for a short run.
func (s *slot) try(t *testing.T, f *Fault, compat bool) (err error) {
	for long := 2 * time.Second; long < 20*time.Second; long *= 3 {
		var res *scenario.Result
		if res, err = s.run(t.Context(), f.Rule(), compat, long); err != nil {
			return err
		}
		if err = f.judge(res, compat); err == nil || f.silent(compat) {
			return err
		}
	}
	return err
}

// silent reports whether a benchmark must not say a word.
func (f *Fault) silent(compat bool) bool {
	return f.Kind == Liberty || compat && f.Contest == Overlooked
}

// judge compares what a benchmark has said with the table. A busy machine is to blame
// for timeouts, unless they are the fault.
func (f *Fault) judge(res *scenario.Result, compat bool) error {
	strict := regexp.MustCompile(f.Strict)
	var told []string
	named := false
	for _, e := range res.Errors {
		for _, text := range e.Samples {
			match := f.Strict != "" && strict.MatchString(text)
			named = named || match
			if match || e.Code != scenario.Timeout {
				told = append(told, fmt.Sprintf("%.300s (%s)", text, e.Code))
			}
		}
	}
	got := fmt.Sprintf("pass %v, %s; %d messages: %s", res.Pass, res.Reason, len(told), strings.Join(told[:min(len(told), 4)], " | "))
	switch {
	case f.silent(compat):
		if !res.Pass || len(told) > 0 {
			return fmt.Errorf("%s; want not a word", got)
		}
	case !compat:
		if !named {
			return fmt.Errorf("%s; want %s", got, f.Strict)
		}
	case res.Pass != (f.Contest == Told), res.Pass && len(told) == 0:
		return fmt.Errorf("%s; want %s", got, f.Contest)
	}
	return nil
}
