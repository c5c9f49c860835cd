package finalize

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
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
		if !there || is == before[name] || slices.ContainsFunc(moving, func(m string) bool { return strings.HasPrefix(name, m) }) {
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
	if set, ok, err := w.db.SetAtRuntime(ctx); err == nil && ok && len(set) > 0 {
		why += " Set by a statement, so lost unless my.cnf has them: " + strings.Join(set, ", ")
	}
	w.skip(PartRestart, what, why)
}

func quoteEmpty(v string) string {
	if v == "" {
		return `""`
	}
	return v
}
