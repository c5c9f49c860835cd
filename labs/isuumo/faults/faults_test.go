package faults

import (
	"fmt"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/kasoku/kasoku/scenario"
)

// atOnce is how many benchmarks run at once. They mostly wait.
const atOnce = 8

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
				res, err := s.run(t.Context(), f.Rule(), compat)
				if err == nil {
					err = f.judge(res, compat)
				}
				if err != nil {
					t.Errorf("%s (%s), compat %v: %v", f.Name, f.Kind, compat, err)
				}
			})
		}
	}
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
	case f.Kind == Liberty || compat && f.Contest == Overlooked:
		if !res.Pass || len(told) > 0 {
			return fmt.Errorf("%s; want not a word", got)
		}
	case !compat:
		if !named {
			return fmt.Errorf("%s; want %s", got, f.Strict)
		}
	case res.Pass != (f.Contest == Told), len(told) == 0:
		return fmt.Errorf("%s; want %s", got, f.Contest)
	}
	return nil
}
