package prove

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/internal/unit"
	"github.com/kasoku/kasoku/mysql"
	"github.com/kasoku/kasoku/mysql/explain"
)

// hide returns edits whose indexes no other session uses at first, where the server has such indexes,
// and why none is hidden where it has not.
func hide(edits []kasoku.Edit, can bool) (out []kasoku.Edit, why string) {
	out = slices.Clone(edits)
	for i := range out {
		s, err := mysql.ParseIndex(out[i].Do)
		switch {
		case out[i].Kind != kasoku.EditIndex || err != nil || s.Drops || s.Special:
		case !can:
			why = "not checked before it is used: this server has no plan with an index that other sessions do not use " +
				"(MariaDB's ignored indexes are used by none); `kasoku explain --check-indexes` asks a private server"
		default:
			out[i].Do = strings.TrimSuffix(strings.TrimSpace(out[i].Do), ";") + " INVISIBLE"
		}
	}
	return out, why
}

// verify asks for plans with the indexes that are hidden. Where none of the plans uses any, and nothing
// else was changed, the change is refuted; otherwise the indexes are shown.
func (t *trier) verify(ctx context.Context, res *Trial, edits, hidden []kasoku.Edit) error {
	names := map[string]bool{} // of indexes
	var made []string          // changes
	for i := range edits {
		if edits[i].Do == hidden[i].Do {
			continue
		}
		c, err := changeOf(hidden[i], t.schema, nil)
		if err != nil {
			return err
		}
		s, _ := mysql.ParseIndex(hidden[i].Do) // changeOf has seen to it
		names[strings.ToLower(s.Index)], made = true, append(made, c.Name)
	}
	if len(made) == 0 {
		return nil
	}
	t.progress("hidden", 0, 1)
	queries := make([]kasoku.Query, len(res.Samples))
	for i := range res.Samples {
		queries[i] = res.Samples[i].Query
	}
	o := explain.Options{Top: max(len(queries), 1), Schema: t.schema, Hidden: true}
	plans, _, err := explain.Queries(ctx, t.reader, queries, o)
	if err != nil {
		return err
	}
	known, used := 0, 0
	var before, after float64
	for i := range plans {
		p := &plans[i]
		if len(p.Rows) == 0 {
			continue
		}
		known++
		if !slices.ContainsFunc(p.Rows, func(r kasoku.PlanRow) bool { return names[strings.ToLower(r.Key)] }) {
			continue
		}
		used++
		at := slices.IndexFunc(res.Samples, func(s Sample) bool { return s.Query.ID == p.QueryID })
		if was := res.Samples[at].PlanBefore; was != nil {
			before, after = before+examined(was), after+examined(p)
		}
	}
	switch {
	case known == 0:
		res.Hidden = "not checked: no statement has a plan"
	case used == 0:
		res.Hidden = fmt.Sprintf("checked while hidden: none of %s uses it", unit.Counted(known, "plan", "plans"))
		res.Refuted = len(made) == len(edits)
	default:
		res.Hidden = fmt.Sprintf("checked while hidden: %d of %s use it, %s → %s", used, unit.Counted(known, "plan", "plans"),
			unit.Count(uint64(before)), unit.Counted(uint64(after), "row", "rows"))
	}
	if res.Refuted {
		return nil
	}
	for _, name := range made {
		if err := mysql.ShowIndex(ctx, t.reader, name); err != nil {
			return err
		}
	}
	return nil
}

// examined is how many rows a plan examines in all steps, as the server estimates it.
func examined(p *kasoku.Plan) (n float64) {
	for _, r := range p.Rows {
		n += max(r.Rows, 0)
	}
	return n
}
