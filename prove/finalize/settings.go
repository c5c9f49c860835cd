package finalize

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/store"
)

// moving are variables that change by themselves.
var moving = []string{"gtid_", "timestamp", "rand_seed", "server_uuid", "pseudo_"}

// variables reads the database's settings; nil without one.
func (w *walker) variables(ctx context.Context) (map[string]string, error) {
	if w.db == nil {
		return nil, nil
	}
	ctx, cancel := context.WithTimeout(ctx, askWithin)
	defer cancel()
	return w.db.Variables(ctx)
}

// sameSettings looks for settings that a restart lost: set by a statement, and
// not in an option file.
func (w *walker) sameSettings(ctx context.Context, before map[string]string, err error, restarts int) {
	const what = "settings"
	if w.db == nil {
		w.skip(PartRestart, what, "no database in kasoku.toml")
		return
	}
	after, afterErr := w.variables(ctx)
	if err == nil {
		err = afterErr
	}
	if err != nil {
		w.cannot(PartRestart, what, err, "")
		return
	}
	if w.db.Restarts() == restarts {
		w.notRestarted(ctx, what)
		return
	}
	var lost, lines []string
	for _, name := range slices.Sorted(maps.Keys(before)) {
		is, there := after[name]
		if !there || is == before[name] || slices.ContainsFunc(moving,
			func(m string) bool { return strings.HasPrefix(name, m) }) {
			continue
		}
		lost = append(lost, fmt.Sprintf("%s: %s before, %s after", name, quoteEmpty(before[name]), quoteEmpty(is)))
		lines = append(lines, name+" = "+before[name])
	}
	w.check(PartRestart, what, lost, []string{fmt.Sprintf("%d variables are the same after a restart", len(after))},
		"put what is wanted below [mysqld] in my.cnf: `"+strings.Join(lines, "`, `")+"`")
}

// notRestarted says what a restart of the database would have lost perhaps.
func (w *walker) notRestarted(ctx context.Context, what string) {
	why := "the database was not restarted: is its unit in finalize.units?"
	ctx, cancel := context.WithTimeout(ctx, askWithin)
	defer cancel()
	set, ok, err := w.db.SetAtRuntime(ctx)
	if err == nil && ok && len(set) > 0 {
		if now, err := w.db.Variables(ctx); err == nil {
			set = withoutRestored(set, now, w.Earlier)
		}
	}
	if len(set) > 0 {
		why += " Set by a statement, so lost unless my.cnf has them: " + strings.Join(set, ", ")
	}
	w.skip(PartRestart, what, why)
}

// mostRuns is how many runs are asked what they put back: reading a long one takes
// a second, and all of a project change the same.
const mostRuns = 3

// withoutRestored leaves out the variables that a run of kasoku put back and that
// have that value still: the statement that set them was kasoku's.
func withoutRestored(names []string, now map[string]string, runs []store.Info) []string {
	restored := map[string]string{}
	read := 0
	for _, r := range runs { // the newest first
		if read == mostRuns {
			break
		}
		if r.Err != nil || r.Checkpoint() || r.State == kasoku.Running {
			continue
		}
		rec, err := store.Open(r.Path)
		if err != nil {
			continue
		}
		read++
		for _, c := range rec.Changes {
			if _, have := restored[c.Name]; c.Restored && !have {
				restored[c.Name] = c.Before
			}
		}
	}
	return slices.DeleteFunc(slices.Clone(names), func(name string) bool {
		before, ok := restored[name]
		return ok && before == now[name]
	})
}

func quoteEmpty(v string) string {
	if v == "" {
		return `""`
	}
	return v
}
