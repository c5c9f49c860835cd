package scratch

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"

	"github.com/kasoku/kasoku/internal/lazyregexp"
	"github.com/kasoku/kasoku/mysql"
	"github.com/kasoku/kasoku/mysqlflags"
)

// Bounds of a copy: rows of a table and their bytes, by the server's own estimate of them,
// and what one INSERT takes.
const (
	mostRows  = 20_000
	mostBytes = 4 << 20
	batchRows = 200
)

// A Copied is what of a table was copied.
type Copied struct {
	Rows  int
	Whole bool // all rows that there were
}

// Copy makes a table as the other server's and fills it with some of its rows: 20,000 or
// 4 MB at most, of long texts the beginning.
func (s *Server) Copy(ctx context.Context, from *mysql.Reader, def mysql.TableDef) (Copied, error) {
	if slices.Contains([]string{"mysql", "sys", "information_schema", "performance_schema"}, strings.ToLower(def.Schema)) {
		return Copied{}, fmt.Errorf("%s is a schema of the server", def.Schema)
	}
	create, err := plainTable(def)
	if err != nil {
		return Copied{}, err
	}
	conn, err := s.db.Conn(ctx)
	if err != nil {
		return Copied{}, err
	}
	defer conn.Close()
	for _, statement := range []string{"CREATE DATABASE IF NOT EXISTS " + mysql.QuoteParts(def.Schema), create} {
		if _, err := conn.ExecContext(ctx, statement); err != nil {
			return Copied{}, fmt.Errorf("copy of %s.%s: %w", def.Schema, def.Name, err)
		}
	}
	columns, err := columnsOf(ctx, conn, def)
	if err != nil {
		return Copied{}, fmt.Errorf("columns of %s.%s: %w", def.Schema, def.Name, err)
	}
	most := mostRows
	if def.Rows > 0 && def.DataBytes > 0 {
		most = max(100, min(most, int(mostBytes/max(def.DataBytes/def.Rows, 1))))
	}
	var list []mysql.CopyColumn
	for _, c := range columns {
		list = append(list, mysql.CopyColumn{Name: c.name, Long: c.long()})
	}
	rows, err := mysql.NewSchema(from).CopyRows(ctx, def, list, most)
	if err != nil {
		return Copied{}, err
	}
	if err := fillTable(ctx, conn, def, columns, rows); err != nil {
		return Copied{}, fmt.Errorf("copy of %s.%s: %w", def.Schema, def.Name, err)
	}
	return Copied{Rows: len(rows), Whole: len(rows) < most && def.Rows <= uint64(most)}, s.Analyze(ctx, def.Schema, def.Name)
}

// Exec runs a statement in a schema of the private server.
func (s *Server) Exec(ctx context.Context, schema, statement string) error {
	conn, err := s.db.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	if _, err := conn.ExecContext(ctx, "USE "+mysql.QuoteParts(schema)); err != nil {
		return err
	}
	_, err = conn.ExecContext(ctx, statement)
	return err
}

// Analyze lets the server look at the values of a table.
func (s *Server) Analyze(ctx context.Context, schema, table string) error {
	return s.Exec(ctx, schema, "ANALYZE TABLE "+mysql.QuoteParts(table))
}

var tableCharset = lazyregexp.New(`(?:DEFAULT )?CHARSET=([A-Za-z0-9_]+)(?: COLLATE=([A-Za-z0-9_]+))?`)

// plainTable writes the definition of a copy: columns and indexes, without what is about
// other tables, checks, partitions and places on disks.
func plainTable(def mysql.TableDef) (string, error) {
	if !strings.EqualFold(def.Engine, "InnoDB") {
		return "", fmt.Errorf("%s.%s is of the engine %q", def.Schema, def.Name, def.Engine)
	}
	_, body, ok := strings.Cut(def.Create, "(\n")
	at := strings.LastIndex(body, "\n) ")
	if !ok || at < 0 {
		return "", fmt.Errorf("%s.%s has no definition that can be copied", def.Schema, def.Name)
	}
	var lines []string
	for line := range strings.Lines(body[:at]) {
		line = strings.TrimSuffix(strings.TrimSpace(line), ",")
		for _, begin := range []string{"`", "PRIMARY KEY ", "UNIQUE KEY ", "KEY ", "FULLTEXT KEY ", "SPATIAL KEY "} {
			if strings.HasPrefix(line, begin) {
				lines = append(lines, line)
				break
			}
		}
	}
	options := ") ENGINE=InnoDB"
	if m := tableCharset().FindStringSubmatch(body[at:]); m != nil {
		options += " DEFAULT CHARSET=" + m[1]
		if m[2] != "" {
			options += " COLLATE=" + m[2]
		}
	}
	return "CREATE TABLE " + mysql.QuoteParts(def.Schema, def.Name) + " (\n" + strings.Join(lines, ",\n") + "\n" + options, nil
}

// A columnType is a column that is copied: none that is computed.
type columnType struct{ name, kind string }

func (c columnType) long() bool {
	return strings.HasSuffix(c.kind, "text") || strings.HasSuffix(c.kind, "blob")
}

// binary reports whether the bytes of a value are no text.
func (c columnType) binary() bool {
	switch c.kind {
	case "bit", "vector", "geometry", "point", "linestring", "polygon", "multipoint", "multilinestring",
		"multipolygon", "geometrycollection", "geomcollection":
		return true
	}
	return strings.HasSuffix(c.kind, "blob") || strings.HasSuffix(c.kind, "binary")
}

func columnsOf(ctx context.Context, conn *sql.Conn, def mysql.TableDef) (out []columnType, err error) {
	rows, err := conn.QueryContext(ctx, "SELECT COLUMN_NAME, LOWER(DATA_TYPE) FROM information_schema.COLUMNS "+
		"WHERE TABLE_SCHEMA = ? AND TABLE_NAME = ? AND COALESCE(GENERATION_EXPRESSION, '') = '' ORDER BY ORDINAL_POSITION",
		def.Schema, def.Name)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var c columnType
		if err := rows.Scan(&c.name, &c.kind); err != nil {
			return nil, err
		}
		out = append(out, c)
	}
	return out, rows.Err()
}

// fillTable inserts the rows; what does not fit, such as a row that came twice, is left out.
func fillTable(ctx context.Context, conn *sql.Conn, def mysql.TableDef, columns []columnType, rows [][]sql.NullString) error {
	// A text of which the beginning was copied is no JSON any more.
	for _, set := range []string{"SET foreign_key_checks = 0", "SET check_constraint_checks = 0"} {
		_, _ = conn.ExecContext(ctx, set) // MySQL knows the first alone
	}
	var names []string
	for _, c := range columns {
		names = append(names, mysql.QuoteParts(c.name))
	}
	into := "INSERT IGNORE INTO " + mysql.QuoteParts(def.Schema, def.Name) + " (" + strings.Join(names, ", ") + ") VALUES "
	mark := "(" + strings.TrimSuffix(strings.Repeat("?, ", len(columns)), ", ") + ")"
	for batch := range slices.Chunk(rows, batchRows) {
		var args []any
		for _, row := range batch {
			for i, cell := range row {
				switch {
				case !cell.Valid:
					args = append(args, nil)
				case columns[i].binary():
					args = append(args, []byte(cell.String))
				default:
					args = append(args, cell.String)
				}
			}
		}
		marks := strings.TrimSuffix(strings.Repeat(mark+", ", len(batch)), ", ")
		_, err := conn.ExecContext(ctx, into+marks, args...)
		if n := mysqlflags.ErrorNumber(err); n != 0 { // its text may quote a value
			return fmt.Errorf("rows are refused, error %d", n)
		} else if err != nil {
			return err
		}
	}
	return nil
}
