package indexes

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/pingcap/tidb/pkg/parser/ast"

	"github.com/kasoku/kasoku"
)

// maxQueries bounds how many classes are looked at, those that took the most time.
const maxQueries = 400

// A work is one look at a recording.
type work struct {
	rec      *kasoku.Recording
	g        grammar
	server   server
	tables   []*table
	accesses []*access
	writes   map[*table]writes
	aside    map[string]float64 // units of what else a statement reads, by its id
	busy     time.Duration
	advice   *Advice
}

// server is what the database can do.
type server struct {
	mariadb    bool
	known      bool
	descending bool // parts of indexes
	merges     bool // derived tables with the statement around them
	pushes     bool // conditions into those that it makes by themselves
}

// Propose reads the statements of a recording and says which indexes would make them
// shorter, and what else there is to say of the tables that they read.
func Propose(rec *kasoku.Recording) (*Advice, error) {
	w := &work{rec: rec, g: newGrammar(), server: serverOf(rec), writes: map[*table]writes{},
		aside: map[string]float64{}, advice: &Advice{}}
	for i := range rec.Tables {
		t := newTable(w.g, &rec.Tables[i])
		t.seeksBinary = w.server.mariadb || !w.server.known
		w.tables = append(w.tables, t)
	}
	w.readAll()
	w.learn()
	for _, t := range w.tables {
		w.propose(t)
	}
	w.advice.Proposals = slices.DeleteFunc(w.advice.Proposals, func(p Proposal) bool {
		return !slices.ContainsFunc(p.Serves, func(s Served) bool { return halvesRows(s) || w.coversFigure(&p, s) })
	})
	w.refute()
	slices.SortStableFunc(w.advice.Proposals, func(a, b Proposal) int {
		return cmp.Or(cmp.Compare(b.Saved, a.Saved), strings.Compare(a.DDL, b.DDL))
	})
	w.spatial()
	w.fixedRanges()
	w.unused()
	w.shapesOfReads()
	return w.advice, nil
}

// serverOf reads what the server says of itself. One that says nothing is taken for
// one of today.
func serverOf(rec *kasoku.Recording) server {
	version, known := rec.Setting("mysql", "version")
	comment, _ := rec.Setting("mysql", "version_comment")
	s := server{mariadb: strings.Contains(strings.ToLower(version+comment), "mariadb"), known: known, descending: true,
		merges: true, pushes: true}
	if known {
		major, minor := versionOf(version)
		s.merges = major > 5 || minor >= 7 || s.mariadb && minor >= 3
		s.pushes = s.mariadb && (major > 10 || major == 10 && minor >= 2) || !s.mariadb && major >= 8
		s.descending = s.mariadb && (major > 10 || major == 10 && minor >= 8) || !s.mariadb && major >= 8
	}
	return s
}

func versionOf(v string) (major, minor int) {
	parts := strings.SplitN(v, ".", 3)
	major, _ = strconv.Atoi(parts[0])
	if len(parts) > 1 {
		minor, _ = strconv.Atoi(parts[1])
	}
	return major, minor
}

// readAll reads the classes that took the most time.
func (w *work) readAll() {
	var top []*kasoku.Query
	for i := range w.rec.Queries {
		switch q := &w.rec.Queries[i]; q.Verb {
		case "SELECT", "UPDATE", "DELETE", "INSERT", "REPLACE":
			top = append(top, q)
			w.busy += q.Total
		}
	}
	slices.SortStableFunc(top, func(a, b *kasoku.Query) int {
		return cmp.Or(cmp.Compare(b.Total, a.Total), strings.Compare(a.ID, b.ID))
	})
	for _, q := range top[:min(len(top), maxQueries)] {
		w.readOne(q)
	}
}

func (w *work) readOne(q *kasoku.Query) {
	stmt, err := w.g.query(q)
	if err != nil {
		w.advice.Unread++
		return
	}
	find := func(schema, name string) *table { return w.table(q, schema, name) }
	if len(q.Tables) > 0 && find("", q.Tables[0]) != nil || len(q.Tables) > 0 && strings.Contains(q.Tables[0], ".") {
		w.advice.Read++
	} else {
		w.advice.Unknown++
	}
	w.note(q, stmt, find)
	list := w.readShapes(q, stmt, find)
	w.probe(q, list)
	for _, a := range list {
		if row, _ := a.plan(w.rec); row != nil && row.Access == "ref" && a.alone() && a.sorted && !a.group {
			a.refuses, a.foundBy = strings.Contains(row.Extra, "filesort"), row.Key
		}
		if w.server.known && !w.server.mariadb {
			a.countDerived(w.rec)
		}
	}
	w.accesses = append(w.accesses, list...)
}

// countDerived adds what MySQL does not count as examined: the rows of a table that is read whole
// for a derived one.
func (a *access) countDerived(rec *kasoku.Recording) {
	row, _ := a.plan(rec)
	if row == nil || row.Select != "DERIVED" && (row.Select != "UNION" || !a.derived) || !isScan(row.Access) ||
		a.limit && !strings.Contains(row.Extra, "filesort") {
		return
	}
	if _, examined := a.perCall(); examined < row.Rows/2 {
		a.uncounted = row.Rows
	}
}

// table finds the definition of a table by name.
func (w *work) table(q *kasoku.Query, schema, name string) *table {
	if s, n, dotted := strings.Cut(name, "."); dotted && schema == "" {
		schema, name = s, n
	}
	schema = cmp.Or(schema, q.Schema)
	var found *table
	for _, t := range w.tables {
		if !strings.EqualFold(t.def.Name, name) || t.def.Host != q.Host {
			continue
		}
		if strings.EqualFold(t.def.Schema, schema) {
			return t
		}
		if schema == "" {
			if found != nil {
				return nil // of several schemas
			}
			found = t
		}
	}
	return found
}

// note counts what the statement writes.
func (w *work) note(q *kasoku.Query, stmt ast.StmtNode, find func(schema, name string) *table) {
	if len(q.Tables) == 0 {
		return
	}
	t := find("", q.Tables[0])
	if t == nil || q.Verb == "SELECT" {
		return
	}
	x := w.writes[t]
	if x.updates == nil {
		x.updates = map[string]float64{}
	}
	n := float64(q.Calls)
	if q.HasAffected && q.RowsAffected > 0 {
		n = float64(q.RowsAffected)
	}
	if u, ok := stmt.(*ast.UpdateStmt); ok {
		for _, set := range u.List {
			if c, ok := t.column(set.Column.Name.O); ok {
				x.updates[c.name] += n
			}
		}
	} else {
		x.rows += n
	}
	w.writes[t] = x
}

// probe estimates how often each table of a join is looked into: as often as rows come
// from those before it in the plan, or as rows are sent where there is none.
func (w *work) probe(q *kasoku.Query, list []*access) {
	if len(list) < 2 {
		return
	}
	for _, p := range w.rec.Plans {
		if p.QueryID != q.ID || len(p.Rows) < 2 {
			continue
		}
		placed, aside := follow(list, p.Rows)
		if w.aside[q.ID] = aside; len(placed) == len(p.Rows) {
			lookups(list)
			sentAsFound(list)
		}
		turnBlocks(list)
		return
	}
	sent, _ := list[0].perCall()
	for i, a := range list {
		if i > 0 && len(a.joined) > 0 {
			a.probes = max(1, sent)
		}
	}
	turnBlocks(list)
}

// follow finds the tables of a statement in its plan, and how often each is looked into. What a SELECT
// makes by itself it makes once; one that depends on the rows outside is run for each of them. aside is
// what reading made tables costs.
func follow(list []*access, rows []kasoku.PlanRow) (placed map[*access]bool, aside float64) {
	n, outside, block := 1.0, 1.0, 0
	placed = map[*access]bool{}
	for i, r := range rows {
		if strings.HasPrefix(r.Table, "<") {
			r.Rows = min(r.Rows, leftOf(list[0], rows))
			aside += max(1, n) * (callUnits + r.Rows)
		}
		depends := strings.HasPrefix(r.Select, "DEPENDENT") || strings.HasPrefix(r.Select, "UNCACHEABLE") ||
			strings.HasPrefix(r.Select, "LATERAL")
		apart := r.Select == "DERIVED" || r.Select == "UNION"
		// A table that is read in several places has a row for each, in the statement's order.
		at := slices.IndexFunc(list, func(a *access) bool {
			return !placed[a] && strings.EqualFold(a.alias, r.Table) && (!a.derived || apart || depends)
		})
		begins := i > 0 && (r.Select != rows[i-1].Select || apart && at >= 0 && list[at].block != block)
		if begins {
			n = 1
			if depends {
				n = outside
			}
		}
		if at >= 0 {
			a := list[at]
			placed[a], block = true, a.block
			a.probes, a.first, a.step = max(1, n), i == 0 || begins && apart, &rows[i]
			if isMadeFirst(rows, i) {
				a.first, a.apart, a.joined = true, true, nil
			}
		}
		n *= max(1, r.Rows*max(1, cmp.Or(max(r.Filtered, 0), 100))/100)
		if r.Select == "PRIMARY" || r.Select == "SIMPLE" {
			outside = n
		}
	}
	return placed, aside
}

// isMadeFirst reports whether a step of a plan reads the one table of a subquery whose rows are made a table before the
// statement looks there: no value of a row outside is known when they are read.
func isMadeFirst(rows []kasoku.PlanRow, i int) bool {
	alone := true
	for k := range rows {
		alone = alone && (k == i || rows[k].Select != rows[i].Select)
	}
	return rows[i].Select == "MATERIALIZED" && alone
}

// leftOf returns how many rows a statement examines at most of tables that it makes: a server knows little
// of these before it makes them. The tables that are read whole to make them are counted by MariaDB, and
// known by estimate.
func leftOf(a *access, rows []kasoku.PlanRow) float64 {
	sent, examined := a.perCall()
	if examined == 0 {
		return math.Inf(1)
	}
	whole := 0.0
	for _, r := range rows {
		if isScan(r.Access) && !strings.HasPrefix(r.Table, "<") {
			whole += r.Rows
		}
	}
	if examined < whole/2 { // not counted
		return max(examined, sent, 1)
	}
	return max(examined-whole, sent, examined/100)
}

// turnBlocks looks for other orders of the joins of the statement and of each derived table.
func turnBlocks(list []*access) {
	by := map[int][]*access{}
	for _, a := range list {
		block := 0
		if a.apart {
			block = a.block
		}
		by[block] = append(by[block], a)
	}
	for _, joined := range by {
		turnJoins(joined)
		findLeads(joined)
	}
}

// lookups finds a join that only looks up what belongs to each row of its first table: one row,
// by a unique index, and under no condition. A LIMIT is one of that table then, which is read as
// if it stood alone.
func lookups(list []*access) {
	at := slices.IndexFunc(list, func(a *access) bool { return a.first && a.cut && a.sorted && !a.group })
	if at < 0 || !onlyLooksUp(list, list[at]) {
		return
	}
	sent, _ := list[at].perCall()
	for _, a := range list {
		a.probes = max(1, sent) // a sort is before them
	}
	list[at].limit, list[at].joined, list[at].probes = true, nil, 1
}

// onlyLooksUp reports whether all tables but the first are looked up by a unique index, and under
// no condition.
func onlyLooksUp(list []*access, first *access) bool {
	return !slices.ContainsFunc(list, func(a *access) bool {
		return a != first && (a.step == nil || a.step.Access != "eq_ref" || len(a.equal)+len(a.in)+len(a.ranges)+a.filters > 0)
	})
}

// sentAsFound bounds how often such tables are looked up by the rows that are sent, where each row
// that the first table gives is one of these: without statistics a server guesses a tenth of its
// rows (MySQL) or all of them (MariaDB). More that were examined than the first step reads count
// as found, too.
func sentAsFound(list []*access) {
	at := slices.IndexFunc(list, func(a *access) bool { return a.first })
	if at < 0 || list[at].step == nil || list[at].step.Select != "SIMPLE" || list[at].query.Verb != "SELECT" ||
		list[at].cut || list[at].folds || list[at].single || !onlyLooksUp(list, list[at]) {
		return
	}
	sent, examined := list[at].perCall()
	for i, a := range list {
		if i != at {
			a.probes = min(a.probes, max(1, sent, examined-list[at].step.Rows))
		}
	}
}

// learn takes what the figures of the run say about columns and tables.
func (w *work) learn() {
	for _, a := range w.accesses {
		t := a.table
		sent, examined := a.perCall()
		by, _ := a.plan(w.rec)
		if by != nil && by.Access == "ALL" && a.alone() && examined > t.rows/2 &&
			(t.scanned == 0 || examined < t.scanned) {
			t.scanned = examined
		}
		if by != nil && by.Access == "range" && a.alone() && len(a.ranges) == 0 {
			for _, h := range t.have {
				if h.name == by.Key && len(h.parts) > 0 && containsName(a.in, h.parts[0].Column) {
					a.listed = listed{h.parts[0].Column, examined}
				}
			}
		}
		if a.rowsKnown() && len(a.equal) == 1 && len(a.ranges)+len(a.in)+a.filters == 0 &&
			(sent > 0 || a.query.Calls >= fewCalls) { // nothing was found, so often
			t.learnt[a.equal[0]] = min(1, max(sent, 1/float64(a.query.Calls+1))/t.rows)
		}
	}
	for _, t := range w.tables {
		w.constants(t)
	}
}

// constants finds columns with a bound that is the same in all statements, such as
// stock > 0: a condition that most rows fit.
func (w *work) constants(t *table) {
	shapes := map[string]map[string]bool{}
	same := map[string]bool{}
	for _, a := range w.of(t) {
		for _, c := range a.ranges {
			if shapes[c] == nil {
				shapes[c] = map[string]bool{}
			}
			shapes[c][a.boundsOf(c)] = true
			if a.query.Distinct == 1 && a.query.Calls >= fewCalls && len(a.ranges) == 1 {
				same[c] = true
			}
		}
	}
	for c := range same {
		t.constant[c] = len(shapes[c]) == 1 && !shapes[c]["both"]
	}
}

// plan returns the row of the statement's plan that reads the table.
func (a *access) plan(rec *kasoku.Recording) (*kasoku.PlanRow, bool) {
	if a.step != nil {
		return a.step, true
	}
	for i := range rec.Plans {
		if p := &rec.Plans[i]; p.QueryID == a.query.ID {
			for k := range p.Rows {
				if name := p.Rows[k].Table; strings.EqualFold(name, a.alias) || strings.EqualFold(name, a.table.def.Name) ||
					len(p.Rows) == 1 {
					return &p.Rows[k], true
				}
			}
			return nil, true
		}
	}
	return nil, false
}

func (w *work) of(t *table) (out []*access) {
	for _, a := range w.accesses {
		if a.table == t && len(out) < maxAccesses {
			out = append(out, a)
		}
	}
	return out
}

// propose chooses the indexes of one table.
func (w *work) propose(t *table) {
	accesses := w.of(t)
	if len(accesses) == 0 || t.rows < fewRows || len(t.columns) == 0 || strings.EqualFold(t.def.Engine, "") &&
		!strings.Contains(t.def.Create, "CREATE TABLE") {
		return
	}
	whole, shared := map[string]reading{}, map[string]float64{}
	for id, units := range w.aside {
		whole[id] = reading{units: units}
	}
	for _, a := range w.accesses {
		r, _ := a.best(a.table.have)
		sum := whole[a.query.ID]
		sum.units, sum.rows = sum.units+r.units, sum.rows+r.rows*r.times
		whole[a.query.ID] = sum
	}
	for _, a := range accesses {
		for _, list := range [][]string{a.equal, a.joined} {
			for _, c := range list {
				shared[c] += a.query.Total.Seconds()
			}
		}
	}
	c := newChooser(t, accesses, whole, w.busy, w.writes[t])
	var wishes []wish
	for i, a := range accesses {
		if c.now[i].units > 2*callUnits && len(a.geo) == 0 {
			wishes = append(wishes, a.wishes(shared)...)
		}
	}
	chosen, refused := c.choose(findCandidates(t, wishes, w.server.descending))
	w.advice.Refused = append(w.advice.Refused, refused...)
	w.advice.Proposals = append(w.advice.Proposals, c.proposals(chosen)...)
}

// halvesRows reports whether an index at least halves the rows that a statement examines, where
// these are no few: smaller savings are within the error of the model.
func halvesRows(s Served) bool { return 2*s.After <= s.Before && s.Before >= fewRows }

// coversFigure reports whether a COUNT or SUM reads an index in place of the rows, which takes less
// than half of its time also where as many are counted, and the server's plan says that it reads
// the rows today.
func (w *work) coversFigure(p *Proposal, s Served) bool {
	if !s.Covered || s.Before < fewRows {
		return false
	}
	return slices.ContainsFunc(w.accesses, func(a *access) bool {
		if a.query.ID != s.QueryID || !a.single || a.table.def.Name != p.Table || 2*s.Saved < a.query.Total {
			return false
		}
		row, _ := a.plan(w.rec)
		return row != nil && !slices.Contains(strings.Split(row.Extra, "; "), "Using index")
	})
}
