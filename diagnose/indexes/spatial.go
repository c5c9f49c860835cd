package indexes

import (
	"slices"
	"strings"
	"time"
)

// spatial looks at each test of where something lies.
func (w *work) spatial() {
	for _, a := range w.accesses {
		if len(a.geo) == 0 || a.query.Verb != "SELECT" {
			continue
		}
		for _, g := range a.geo {
			if s, ok := w.spatialOf(a, g); ok {
				w.advice.Spatial = append(w.advice.Spatial, s)
				break
			}
		}
	}
}

func (w *work) spatialOf(a *access, g geometry) (Spatial, bool) {
	t := a.table
	s := Spatial{Host: t.def.Host, Schema: t.def.Schema, Table: t.def.Name, QueryID: a.query.ID, Function: g.function}
	if a.query.Calls == 0 || t.rows < fewRows {
		return s, false
	}
	_, examined := a.perCall()
	s.Saved = time.Duration((1 - min(1, (callUnits+20)/(callUnits+examined))) * float64(a.query.Total))
	switch {
	case g.stored != "":
		return s, w.storedPoint(a, g.stored, &s)
	case len(g.numbers) > 0:
		s.From = g.numbers
	default:
		s.Constant, s.From = true, t.coordinates()
		s.Saved = a.query.Total * 9 / 10 // one statement in place of one for each row
	}
	if len(s.From) < 2 {
		return s, false
	}
	s.Case = "b"
	if c, ok := t.point(); ok { // there is one, and the statement does not use it
		s.Column = c.name
		s.Steps = w.indexPoint(t, c)
		return s, true
	}
	s.Column = "position"
	for n := 2; ; n++ {
		if _, taken := t.column(s.Column); !taken {
			break
		}
		s.Column = "position" + strings.Repeat("_", n-1)
	}
	s.Steps = w.storePoint(t, s.Column, s.From)
	return s, true
}

// point returns the table's column of a spatial type.
func (t *table) point() (column, bool) {
	for _, c := range t.columns {
		if c.spatial {
			return c, true
		}
	}
	return column{}, false
}

// spatialIndex returns the name of the spatial index on a column.
func (t *table) spatialIndex(name string) string {
	for line := range strings.Lines(t.def.Create) {
		if _, rest, ok := strings.Cut(line, "SPATIAL KEY `"); ok && strings.Contains(rest, "(`"+name+"`)") {
			index, _, _ := strings.Cut(rest, "`")
			return index
		}
	}
	return ""
}

// storedPoint looks at a column of a spatial type that is tested as it is.
func (w *work) storedPoint(a *access, name string, s *Spatial) bool {
	t := a.table
	c, _ := t.column(name)
	s.Column = name
	if plan, _ := a.plan(w.rec); plan != nil && plan.Key != "" && plan.Key == t.spatialIndex(name) {
		return false
	}
	switch {
	case t.spatialIndex(name) == "":
		s.Case, s.Steps = "a", w.indexPoint(t, c)
	case !w.server.mariadb && !strings.Contains(t.line(name), "SRID"):
		s.Case, s.Steps = "c", append([]string{"DROP INDEX " + quoteName(t.spatialIndex(name)) + " ON " +
			quoteName(t.def.Name)}, w.indexPoint(t, c)...)
	default:
		return false
	}
	if len(s.Steps) == 1 {
		s.Index, s.Undo = s.Steps[0], "DROP INDEX "+quoteName(t.def.Name+"_"+name)+" ON "+quoteName(t.def.Name)
	}
	return true
}

// line returns the definition of a column.
func (t *table) line(name string) string {
	for line := range strings.Lines(t.def.Create) {
		if strings.HasPrefix(strings.TrimSpace(line), "`"+name+"` ") {
			return line
		}
	}
	return ""
}

// indexPoint returns the statements that index a column: a spatial index wants NOT
// NULL, and MySQL uses it only when the column is bound to one reference system.
func (w *work) indexPoint(t *table, c column) []string {
	name, col := quoteName(t.def.Name), quoteName(c.name)
	var steps []string
	bound := w.server.mariadb || strings.Contains(t.line(c.name), "SRID")
	if c.null || !bound {
		kind := "POINT NOT NULL"
		if !w.server.mariadb {
			kind += " SRID 0"
		}
		steps = append(steps, "ALTER TABLE "+name+" MODIFY "+col+" "+kind)
	}
	if t.spatialIndex(c.name) != "" && bound && !c.null {
		return steps
	}
	return append(steps, "CREATE SPATIAL INDEX "+quoteName(t.def.Name+"_"+c.name)+" ON "+name+" ("+col+")")
}

// storePoint returns the statements that store a point made of two columns. MySQL
// generates it; MariaDB's generated columns cannot be NOT NULL, as a spatial index
// wants, so there triggers fill it.
func (w *work) storePoint(t *table, column string, from []string) []string {
	name, col := quoteName(t.def.Name), quoteName(column)
	value := "POINT(" + quoteName(from[0]) + ", " + quoteName(from[1]) + ")"
	index := "CREATE SPATIAL INDEX " + quoteName(t.def.Name+"_"+column) + " ON " + name + " (" + col + ")"
	if !w.server.mariadb {
		return []string{
			"ALTER TABLE " + name + " ADD COLUMN " + col + " POINT GENERATED ALWAYS AS (" + value +
				") STORED NOT NULL SRID 0 INVISIBLE",
			index,
		}
	}
	fresh := "POINT(NEW." + quoteName(from[0]) + ", NEW." + quoteName(from[1]) + ")"
	return []string{
		"ALTER TABLE " + name + " ADD COLUMN " + col + " POINT INVISIBLE",
		"UPDATE " + name + " SET " + col + " = " + value,
		"CREATE TRIGGER " + quoteName(t.def.Name+"_"+column+"_insert") + " BEFORE INSERT ON " + name +
			" FOR EACH ROW SET NEW." + col + " = " + fresh,
		"CREATE TRIGGER " + quoteName(t.def.Name+"_"+column+"_update") + " BEFORE UPDATE ON " + name +
			" FOR EACH ROW SET NEW." + col + " = " + fresh,
		"ALTER TABLE " + name + " MODIFY " + col + " POINT NOT NULL DEFAULT POINT(0, 0) INVISIBLE",
		index,
	}
}

// coordinates returns the columns that by type and name are a latitude and a longitude.
func (t *table) coordinates() []string {
	find := func(words ...string) string {
		for _, c := range t.columns {
			if lower := strings.ToLower(c.name); c.double &&
				(slices.Contains(words, lower) || slices.ContainsFunc(words, func(w string) bool {
					return len(w) > 2 && (strings.HasPrefix(lower, w) || strings.HasSuffix(lower, "_"+w))
				})) {
				return c.name
			}
		}
		return ""
	}
	for _, pair := range [][2][]string{{{"lat", "latitude"}, {"lon", "lng", "long", "longitude"}},
		{{"x", "pos_x"}, {"y", "pos_y"}}} {
		if a, b := find(pair[0]...), find(pair[1]...); a != "" && b != "" {
			return []string{a, b}
		}
	}
	return nil
}
