package finalize

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/mysql"
	"github.com/kasoku/kasoku/store"
)

// moving are variables that change by themselves.
var moving = []string{"gtid_", "timestamp", "rand_seed", "server_uuid", "pseudo_"}

// settingsBefore are the settings of the database before a restart.
type settingsBefore struct {
	db       *mysql.Reader // nil without a database
	vars     map[string]string
	err      error // why they are not known
	restarts int   // that the reader had seen
}

func rememberSettings(ctx context.Context, db *mysql.Reader) *settingsBefore {
	b := &settingsBefore{db: db}
	if db != nil {
		b.vars, b.err = readSettings(ctx, db)
		b.restarts = db.Restarts()
	}
	return b
}

func readSettings(ctx context.Context, db *mysql.Reader) (map[string]string, error) {
	ctx, cancel := context.WithTimeout(ctx, askWithin)
	defer cancel()
	return db.Variables(ctx)
}

// compare looks for settings that a restart lost: set by a statement, and
// not in an option file. earlier are the runs made before.
func (b *settingsBefore) compare(ctx context.Context, earlier []store.Info) Item {
	i := Item{Part: PartRestart, What: "settings", Status: Skipped}
	if b.db == nil {
		i.Saw = []string{"no database in kasoku.toml"}
		return i
	}
	after, err := readSettings(ctx, b.db)
	if b.err != nil {
		err = b.err
	}
	switch {
	case err != nil:
		i.Status, i.Saw = Bad, []string{err.Error()}
		return i
	case b.db.Restarts() == b.restarts:
		i.Saw = []string{b.whatWouldBeLost(ctx, earlier)}
		return i
	}
	var lost, lines []string
	for _, name := range slices.Sorted(maps.Keys(b.vars)) {
		was := b.vars[name]
		is, there := after[name]
		if !there || is == was || slices.ContainsFunc(moving,
			func(m string) bool { return strings.HasPrefix(name, m) }) {
			continue
		}
		lost = append(lost, fmt.Sprintf("%s: %s before, %s after", name, quoteEmpty(was), quoteEmpty(is)))
		lines = append(lines, name+" = "+was)
	}
	i.Status, i.Saw = OK, []string{fmt.Sprintf("%d variables are the same after a restart", len(after))}
	if len(lost) > 0 {
		i.Status, i.Saw = Bad, lost
		i.Fix = "put what is wanted below [mysqld] in my.cnf: `" + strings.Join(lines, "`, `") + "`"
	}
	return i
}

// whatWouldBeLost says what a restart of the database would have lost perhaps.
func (b *settingsBefore) whatWouldBeLost(ctx context.Context, earlier []store.Info) string {
	why := "the database was not restarted: is its unit in finalize.units?"
	ctx, cancel := context.WithTimeout(ctx, askWithin)
	defer cancel()
	set, ok, err := b.db.SetAtRuntime(ctx)
	if err == nil && ok && len(set) > 0 {
		if now, err := b.db.Variables(ctx); err == nil {
			set = withoutRestored(set, now, earlier)
		}
	}
	if len(set) > 0 {
		why += " Set by a statement, so lost unless my.cnf has them: " + strings.Join(set, ", ")
	}
	return why
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
