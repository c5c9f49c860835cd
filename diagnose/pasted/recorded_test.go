package pasted

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/kasoku/kasoku/diagnose"
	"github.com/kasoku/kasoku/diagnose/internal/extract"
	"github.com/kasoku/kasoku/diagnose/rules"
	"github.com/kasoku/kasoku/internal/test/turn"
	"github.com/kasoku/kasoku/mysqlflags"
	"github.com/kasoku/kasoku/sandbox"
	"github.com/kasoku/kasoku/sandbox/sandboxtest"
)

// asTheyAre are rules whose SQL is no rewrite of a statement: it is run as it is printed in
// the recorded cases, on tables made from their definitions, and has rows of its own where
// the server must then use it.
var asTheyAre = map[string]string{
	"DBC-01": "SET GLOBAL", "DBC-02": "SET GLOBAL", "DBC-06": "SET GLOBAL", "POOL-02": "SET GLOBAL",
	"QRY-08": "SET GLOBAL of the query cache",
	"QRY-05": "SET GLOBAL of the query cache", "DRV-04": "the mapper's own INSERT", "DRV-02": "as DRV-03",
	"IDX-01": "CREATE INDEX", "IDX-02": "CREATE INDEX", "IDX-03": "CREATE INDEX", "IDX-04": "CREATE INDEX, DROP INDEX",
	"IDX-06": "CREATE INDEX",
	"IDX-07": "a spatial index", "IDX-08": "keys of a CREATE TABLE",
}

// A printed is SQL that a rule prints in a recorded case.
type printed struct {
	rule, path string
	c          *diagnose.Case
	code       string
}

// allPrinted reads the recorded cases.
func allPrinted(t *testing.T) (out []printed) {
	for _, r := range rules.All() {
		files, err := filepath.Glob(filepath.Join("..", "rules", "testdata", r.ID(), "fires", "*.txtar"))
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range files {
			data, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			g, err := extract.ParseGroup(data)
			if err != nil {
				t.Fatal(err)
			}
			c := diagnose.NewCase(g.Run, g.Baseline)
			c.Repeats, c.Baselines = g.Repeats, g.Baselines
			found, _ := r.Check(c)
			for _, f := range found {
				for _, fix := range f.Fixes {
					if fix.Lang == "sql" {
						name := strings.TrimSuffix(filepath.Base(path), ".txtar")
						out = append(out, printed{r.ID(), name, c, fix.Code})
					}
				}
			}
		}
	}
	return out
}

// TestEveryRuleHasARow: a rule that prints SQL is in the table.
func TestEveryRuleHasARow(t *testing.T) {
	all := rows()
	for _, p := range allPrinted(t) {
		if asTheyAre[p.rule] == "" && !slices.ContainsFunc(all, func(r row) bool { return r.rule == p.rule }) {
			t.Errorf("%s prints SQL in %s, and no row runs it:\n%s", p.rule, p.path, p.code)
		}
		if p.code == "" {
			t.Errorf("%s: a fix in SQL without SQL in %s", p.rule, p.path)
		}
	}
}

// TestRecordedSQL gives all SQL of the recorded cases to a server of the same kind: it is
// run, or, where it has places for values, prepared.
func TestRecordedSQL(t *testing.T) {
	turn.Wait(t)
	var all []printed
	if !testing.Short() {
		all = allPrinted(t)
	}
	sandboxtest.Each(t, sandbox.Options{}, func(t *testing.T, srv *sandbox.Server) {
		s := newServer(t, srv)
		done := map[string]bool{}
		for _, p := range all {
			mariadb := strings.Contains(s.version, "MariaDB")
			if (p.c.Server() == "MariaDB") != mariadb || done[p.rule+p.code] {
				continue
			}
			done[p.rule+p.code] = true
			said, err := s.apply(p)
			if err != nil {
				t.Errorf("%s, %s: %v\n%s", p.rule, p.path, err, p.code)
			}
			t.Logf("%s\t%s\t%s", p.rule, p.path, said)
		}
	})
}

// apply makes the tables of a case, and runs what is to be pasted.
func (s *server) apply(p printed) (string, error) {
	before := []string{"DROP DATABASE IF EXISTS pasted", "CREATE DATABASE pasted", "USE pasted",
		"SET FOREIGN_KEY_CHECKS = 0"}
	for i := range p.c.Tables {
		before = append(before, p.c.Tables[i].Create)
	}
	conn, err := s.db.Conn(s.t.Context())
	if err != nil {
		return "", err
	}
	defer conn.Close()
	for _, q := range before {
		if _, err := conn.ExecContext(s.t.Context(), q); err != nil {
			return "", fmt.Errorf("%s: %w", q, err)
		}
	}
	code := p.code
	if strings.HasPrefix(code, "+") {
		code = createOf(code)
	}
	said := map[string]bool{}
	for q := range strings.SplitSeq(strings.TrimSpace(code), ";\n") {
		switch {
		case strings.Contains(q, "?") || strings.HasPrefix(q, "SELECT"):
			st, err := conn.PrepareContext(s.t.Context(), strings.TrimSuffix(q, ";"))
			if err == nil {
				st.Close()
				said["prepared"] = true
			} else if len(p.c.Tables) == 0 && unknownTable(err) {
				said["read by the server, which has no such table"] = true
			} else {
				return "", fmt.Errorf("%s: %w", q, err)
			}
		default:
			_, err := conn.ExecContext(s.t.Context(), q)
			if len(p.c.Tables) == 0 && unknownTable(err) {
				said["read by the server, which has no such table"] = true
			} else if err != nil {
				return "", fmt.Errorf("%s: %w", q, err)
			} else {
				said["run"] = true
			}
		}
	}
	var list []string
	for w := range said {
		list = append(list, w)
	}
	slices.Sort(list)
	return strings.Join(list, ", "), nil
}

// unknownTable: no such table or database, so the text was read to its end.
func unknownTable(err error) bool {
	n := mysqlflags.ErrorNumber(err)
	return err != nil && (n == 1146 || n == 1049) && !errors.Is(err, os.ErrNotExist)
}

// createOf puts lines that are to be added to a CREATE TABLE into one.
func createOf(added string) string {
	keys := strings.TrimSuffix(strings.ReplaceAll(added, "+  ", ""), ",")
	_, columns, _ := strings.Cut(keys, "(")
	var list []string
	columns, _, _ = strings.Cut(columns, ")")
	for name := range strings.SplitSeq(columns, ",") {
		if c := strings.TrimSpace(name) + " INT NOT NULL"; !slices.Contains(list, c) {
			list = append(list, c)
		}
	}
	return "CREATE TABLE recreated (" + strings.Join(append(list, keys), ", ") + ")"
}
