package revert

import (
	"slices"
	"strings"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/checkpoint/capture"
	"github.com/kasoku/kasoku/compare"
	"github.com/kasoku/kasoku/mysql"
)

// indexes compares the indexes of the tables that the run knows.
func (m *maker) indexes(then []kasoku.Config) {
	if len(then) == 0 {
		return
	}
	hasSchema := func(c kasoku.Config) bool { return c.Kind == capture.KindSchema }
	if !slices.ContainsFunc(m.now.Configs, hasSchema) {
		m.note("indexes are left out: no tables can be seen; --mysql names the database")
		return
	}
	for _, c := range then {
		if !m.wanted(c.Name) || c.Text == "" {
			continue
		}
		i := slices.IndexFunc(m.now.Configs, func(x kasoku.Config) bool { return hasSchema(x) && x.Name == c.Name })
		if i < 0 {
			m.note("table %s is gone; it is not made again", c.Name)
			continue
		}
		now := m.now.Configs[i].Text
		for _, x := range compare.DiffIndexes(now, c.Text) {
			m.plan.Indexes = append(m.plan.Indexes, newIndex(c.Name, x))
		}
		if withoutKeys(now) != withoutKeys(c.Text) {
			m.note("table %s differs in more than its indexes; columns and options are left as they are", c.Name)
		}
	}
}

// newIndex makes the statement that turns the present index into the one of the run.
func newIndex(table string, x compare.IndexChange) Index {
	i := Index{Table: table, Name: x.Name}
	var parts []string
	if x.Before != nil {
		parts = append(parts, "DROP INDEX "+quote(x.Name))
	}
	if x.After != nil {
		parts = append(parts, "ADD "+x.After.Text)
	}
	schema, name, _ := strings.Cut(table, ".")
	i.Statement = "ALTER TABLE " + quote(schema) + "." + quote(name) + " " + strings.Join(parts, ", ")
	switch {
	case x.Name == "PRIMARY":
		i.Refused = "primary keys are left as they are"
	case x.After != nil && !x.After.Sound:
		i.Refused = "its definition has parts that kasoku does not know"
	}
	return i
}

func quote(name string) string { return "`" + strings.ReplaceAll(name, "`", "``") + "`" }

// withoutKeys returns a definition without its indexes, and without the commas that
// come and go with them.
func withoutKeys(create string) string {
	keys := mysql.ParseKeys(create)
	var out []string
	for line := range strings.Lines(create) {
		l := strings.TrimSuffix(strings.TrimSpace(line), ",")
		if !slices.ContainsFunc(keys, func(k mysql.Key) bool { return k.Text == l }) {
			out = append(out, l)
		}
	}
	return strings.Join(out, "\n")
}
