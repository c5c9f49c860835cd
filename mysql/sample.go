package mysql

import (
	"context"
	"database/sql"
	"fmt"
	"strconv"
	"strings"
)

// Bounds of a sample: so many places of a table, and so many rows of each.
const (
	samplePlaces  = 40
	sampleRows    = 100
	sampleColumns = 40
)

// A ColumnSample is what a sample of a table's rows says of one column.
type ColumnSample struct {
	Name     string
	Rows     int // that were looked at
	Distinct int // different values among them, NULL one of them
	Most     int // rows with the most frequent value
}

// SampleColumns looks at 4,000 rows at most of a table, in pieces from all over its primary
// key where that begins with a number, else from both of its ends, and counts what differs. Values
// do not leave the server: their checksums do. Columns of long texts are left out.
func (s Schema) SampleColumns(ctx context.Context, def TableDef) (out []ColumnSample, err error) {
	names := sampled(def.Create)
	if len(names) == 0 {
		return nil, nil
	}
	err = s.r.with(ctx, func(conn *session) error {
		out, err = conn.sample(ctx, def, names)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("sample of %s.%s: %w", def.Schema, def.Name, err)
	}
	return out, nil
}

// sampled returns the columns of a definition whose values are short.
func sampled(create string) (names []string) {
	for line := range strings.Lines(create) {
		rest, ok := strings.CutPrefix(strings.TrimSpace(line), "`")
		name, kind, known := strings.Cut(rest, "` ")
		if !ok || !known || len(names) == sampleColumns {
			continue
		}
		kind, _, _ = strings.Cut(strings.ToLower(kind), " ")
		kind, _, _ = strings.Cut(kind, "(")
		switch {
		case strings.HasSuffix(kind, "text"), strings.HasSuffix(kind, "blob"), kind == "json",
			kind == "geometry", kind == "point", kind == "linestring", kind == "polygon", kind == "vector":
			continue
		}
		names = append(names, strings.ReplaceAll(name, "``", "`"))
	}
	return names
}

func (s *session) sample(ctx context.Context, def TableDef, names []string) ([]ColumnSample, error) {
	var list []string
	counts := make([]map[sql.NullInt64]int, len(names))
	cells, into := make([]sql.NullInt64, len(names)), make([]any, len(names))
	for i, n := range names {
		list = append(list, "CRC32("+QuoteParts(n)+")")
		counts[i], into[i] = map[sql.NullInt64]int{}, &cells[i]
	}
	places, err := s.places(ctx, def, samplePlaces*sampleRows)
	if err != nil {
		return nil, err
	}
	for i, p := range places {
		places[i] = "(SELECT " + strings.Join(list, ", ") + " FROM " + QuoteParts(def.Schema, def.Name) + p + ")"
	}
	rows := 0
	err = s.query(ctx, strings.Join(places, " UNION ALL "), func() error {
		rows++
		for i, c := range cells {
			counts[i][c]++
		}
		return nil
	}, into...)
	var out []ColumnSample
	for i, n := range names {
		c := ColumnSample{Name: n, Rows: rows, Distinct: len(counts[i])}
		for _, k := range counts[i] {
			c.Most = max(c.Most, k)
		}
		out = append(out, c)
	}
	return out, err
}

// places returns the ends of the statements that read the pieces, most rows together.
func (s *session) places(ctx context.Context, def TableDef, most int) ([]string, error) {
	all := fmt.Sprintf(" LIMIT %d", most)
	if def.Rows <= uint64(most) {
		return []string{all}, nil
	}
	var key []string
	for _, i := range def.Indexes {
		if i.Name != "PRIMARY" {
			continue
		}
		for _, c := range i.Columns {
			name, _, _ := strings.Cut(strings.TrimSuffix(c, " DESC"), "(") // of a prefix
			key = append(key, QuoteParts(name))
		}
	}
	if len(key) == 0 {
		return []string{all}, nil
	}
	forth := strings.Join(key, ", ")
	back := strings.Join(key, " DESC, ") + " DESC"
	var least, last sql.NullString
	ends := "SELECT MIN(" + key[0] + "), MAX(" + key[0] + ") FROM " + QuoteParts(def.Schema, def.Name)
	if err := s.row(ctx, ends, &least, &last); err != nil {
		return nil, err
	}
	from, err := strconv.ParseInt(least.String, 10, 64)
	to, err2 := strconv.ParseInt(last.String, 10, 64)
	if err != nil || err2 != nil {
		return []string{fmt.Sprintf(" ORDER BY %s LIMIT %d", forth, most/2),
			fmt.Sprintf(" ORDER BY %s LIMIT %d", back, most/2)}, nil
	}
	var starts []int64
	for i := range int64(samplePlaces) {
		at := from + int64(float64(to-from)*float64(i)/samplePlaces)
		if len(starts) == 0 || starts[len(starts)-1] != at {
			starts = append(starts, at)
		}
	}
	var out []string
	for _, at := range starts {
		if n := most / len(starts); len(key) == 1 {
			out = append(out, fmt.Sprintf(" WHERE %s >= %d ORDER BY %s LIMIT %d", key[0], at, forth, n))
		} else { // what has the same number may be most of the table: both of its ends
			out = append(out, fmt.Sprintf(" WHERE %s >= %d ORDER BY %s LIMIT %d", key[0], at, forth, n/2),
				fmt.Sprintf(" WHERE %s <= %d ORDER BY %s LIMIT %d", key[0], at, back, n/2))
		}
	}
	return out, nil
}
