package indexes

import (
	"slices"
	"strings"

	"github.com/kasoku/kasoku"
)

// unused names the indexes of written tables that no plan of the run used and that the model
// would not choose either. Primary keys, unique indexes and those of foreign keys are left
// out: they may be needed for something else.
func (w *work) unused() {
	for _, t := range w.tables {
		u := Unused{Host: t.def.Host, Schema: t.def.Schema, Table: t.def.Name}
		used := map[string]bool{}
		ids := map[string]bool{}
		for _, a := range w.of(t) {
			if ids[a.query.ID] {
				continue
			}
			ids[a.query.ID] = true
			_, known := a.plan(w.rec)
			if known {
				u.Looked++
			}
			if _, by := a.best(t.have); by != nil {
				used[by.name] = true // a statement without a plan may use it
			}
		}
		u.Of = len(ids)
		for i := range w.rec.Plans {
			for _, r := range w.rec.Plans[i].Rows {
				for _, k := range strings.Split(r.Key, ",") {
					used[k] = true
				}
			}
		}
		if x := w.writes[t]; u.Looked == 0 || x.rows == 0 && len(x.updates) == 0 { // it costs where rows are written
			continue
		}
		for _, h := range t.have {
			if h.unique || h.other || used[h.name] || t.foreign(h) || h.name == "PRIMARY" {
				continue
			}
			x := u
			x.Index = h.name
			for _, p := range h.parts {
				x.Columns = append(x.Columns, p.String())
			}
			x.Undo, x.Drop = indexDDL(h.name, t.def.Name, h.parts)
			w.advice.Unused = append(w.advice.Unused, x)
		}
	}
}

// A Read is how one class of statements reads one table, as far as rules about the
// statements themselves want to know.
type Read struct {
	QueryID string
	Table   *kasoku.TableDef
	Alias   string   // by which the statement, and so its plan, names the table; in lower case
	Unique  []string // columns of a unique index that are all compared for equality
	Count   bool     // the answer is one figure
	Star    bool
	Wide    []string // columns that it reads and that are long by their type
	Alone   bool     // no other table is read
	Hidden  []Hidden // conditions that no index can seek
	Equal   []string // columns that are compared with a value for equality
	Ordered []string // columns of its order, where they are this table's alone and all ascend, or all descend
	Limited bool
	Simple  bool // its conditions are those for equality with values, and no others
}

// Reads returns them for all statements that were understood.
func (a *Advice) Reads() []Read { return a.reads }

func (w *work) shapesOfReads() {
	for _, a := range w.accesses {
		r := Read{QueryID: a.query.ID, Table: &a.table.def, Alias: a.alias, Count: a.single,
			Star:  a.star && a.query.Verb == "SELECT",
			Alone: a.alone(), Hidden: a.hidden, Equal: a.equal, Limited: a.limit, Ordered: a.oneWay(),
			Simple: len(a.ranges)+len(a.in)+len(a.joined)+a.filters == 0 && !a.never && !a.apart}
		for _, h := range a.table.have {
			if h.unique && len(h.parts) > 0 && !slices.ContainsFunc(h.parts,
				func(p Part) bool { return !containsName(a.equal, p.Column) }) {
				for _, p := range h.parts {
					r.Unique = append(r.Unique, p.Column)
				}
				break
			}
		}
		for _, c := range a.table.columns {
			if (c.text || c.bytes >= wideColumn) && (a.star || containsName(a.reads, c.name)) {
				r.Wide = append(r.Wide, c.name)
			}
		}
		w.advice.reads = append(w.advice.reads, r)
	}
}

// oneWay returns the columns of an order in one direction, of no groups.
func (a *access) oneWay() (names []string) {
	if !a.sorted || a.group {
		return nil
	}
	for _, p := range a.order {
		if p.Desc != a.order[0].Desc {
			return nil
		}
		names = append(names, p.Column)
	}
	return names
}

// wideColumn is from which length on a column makes rows wide: VARCHAR(250) in utf8mb4.
const wideColumn = 1000
