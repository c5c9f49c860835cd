// Package observetest holds what a source samples of a real server to what it declares
// of itself. Only tests import it.
package observetest

import (
	"maps"
	"slices"
	"testing"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/observe"
)

// Absent has the keys that a server or a machine of the tests may lack, each with why.
type Absent map[string]string

// Sampled fails unless the samples, of one tick or of many, have each signal that the
// source declares, with its unit and kind; absent ones may be missing. A sample that is
// not declared is refused, too, unless the source is open or one of others, which are
// recorded under the same name, declares it.
func Sampled(t testing.TB, d *observe.Declaration, samples []kasoku.Sample, absent Absent, others ...*observe.Declaration) {
	t.Helper()
	seen := map[string]bool{}
	for _, x := range samples {
		if seen[x.Name] {
			continue
		}
		seen[x.Name] = true
		s, ok := d.Signal(x.Name)
		switch {
		case !ok && !d.Open && !slices.ContainsFunc(others, func(o *observe.Declaration) bool { _, ok := o.Signal(x.Name); return ok }):
			t.Errorf("%s: %q is sampled, and not declared", d.Name, x.Name)
		case ok && (x.Unit != s.Unit || x.Kind != s.Kind):
			t.Errorf("%s: %q is sampled as %v in %s, declared as %v in %s", d.Name, x.Name, x.Kind, x.Unit, s.Kind, s.Unit)
		case ok && x.Instance != "" && s.Entity == "": // the sum of all has none
			t.Errorf("%s: %q of the instance %q, and no entity is declared", d.Name, x.Name, x.Instance)
		}
	}
	for _, s := range d.Signals {
		if !seen[s.Key] && absent[s.Key] == "" {
			t.Errorf("%s: %q is declared, and no server of this test has it", d.Name, s.Key)
		}
	}
	for _, key := range slices.Sorted(maps.Keys(absent)) {
		if _, ok := d.Signal(key); !ok {
			t.Errorf("%s: %q may be absent, and is not declared", d.Name, key)
		}
	}
}
