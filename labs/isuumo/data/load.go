package data

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/kasoku/kasoku/labs/isuumo"
)

// What a file may hold. Rows are kept; everything else is read piece by piece.
const (
	maxText = 1 << 20 // bytes of a line of JSON, of a value in SQL, of the choices of a search
	maxRows = 1 << 18 // of one kind, over all files; the contest has 40,000
)

// Load reads data in the contest's formats. The directory is initial-data, or the
// one that it and webapp are in; see [Emit].
//
// Rows come from JSON lines, or else from SQL dumps, in result or in
// webapp/mysql/db. The choices of the searches come from webapp/fixture, or else from
// result. An error names the file, where it is known the line, and what was expected.
func Load(dir string) (*isuumo.Data, error) {
	result, webapp, err := locateDirectories(dir)
	if err != nil {
		return nil, err
	}
	d := &isuumo.Data{}
	if d.Chairs, d.VerifyChairs, d.DraftChairs, err = loadKind(chairTable(), result, webapp, chairSQLFile); err != nil {
		return nil, err
	}
	if d.Estates, d.VerifyEstates, d.DraftEstates, err = loadKind(estateTable(), result, webapp,
		estateSQLFile); err != nil {
		return nil, err
	}
	places := []string{filepath.Join(webapp, "fixture"), result}
	if err := loadCondition(places, chairConditionFile, parseChairCondition, &d.ChairCondition); err != nil {
		return nil, err
	}
	if err := loadCondition(places, estateConditionFile, parseEstateCondition, &d.EstateCondition); err != nil {
		return nil, err
	}
	return d, nil
}

// locateDirectories returns the directories result and webapp; the latter need not exist.
func locateDirectories(dir string) (result, webapp string, err error) {
	for _, initial := range []string{dir, filepath.Join(dir, "initial-data")} {
		result = filepath.Join(initial, "result")
		if info, err := os.Stat(result); err == nil && info.IsDir() {
			return result, filepath.Join(initial, "..", "webapp"), nil
		}
	}
	return "", "", fmt.Errorf("load data: %s: want a directory result in it, or initial-data/result", dir)
}

// loadKind reads all rows of one kind.
func loadKind[T any](t *table[T], result, webapp, sqlFile string) (rows, verify []T, drafts [][]T, err error) {
	l := &loader[T]{table: t, seen: map[int64]place{}}
	file, err := firstOf(filepath.Join(result, rowsFile(t.name)), filepath.Join(result, sqlFile),
		filepath.Join(webapp, "mysql", "db", sqlFile))
	if err != nil {
		return nil, nil, nil, err
	}
	if rows, err = l.read(file); err != nil {
		return nil, nil, nil, err
	}
	slices.SortFunc(rows, func(a, b T) int { return cmp.Compare(t.id(&a), t.id(&b)) })
	if verify, err = l.read(filepath.Join(result, verifyFile(t.name))); err != nil {
		return nil, nil, nil, err
	}
	files, err := filesOf(filepath.Join(result, draftDir(t.name)))
	if err != nil {
		return nil, nil, nil, err
	}
	for _, file := range files {
		draft, err := l.read(file)
		if err != nil {
			return nil, nil, nil, err
		}
		drafts = append(drafts, draft)
	}
	return rows, verify, drafts, nil
}

// firstOf returns the first of the files that exists.
func firstOf(files ...string) (string, error) {
	for _, f := range files {
		if _, err := os.Stat(f); err == nil {
			return f, nil
		}
	}
	return "", fmt.Errorf("load data: want one of %s: %w", strings.Join(files, ", "), fs.ErrNotExist)
}

// filesOf lists the files of a directory, 2.txt before 10.txt.
func filesOf(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("load data: %w", err)
	}
	var names []string
	for _, e := range entries {
		if !e.IsDir() && !strings.HasPrefix(e.Name(), ".") {
			names = append(names, e.Name())
		}
	}
	if len(names) == 0 {
		return nil, fmt.Errorf("load data: %s: want files of JSON lines, have none", dir)
	}
	slices.SortFunc(names, func(a, b string) int {
		return cmp.Or(cmp.Compare(numberOf(a), numberOf(b)),
			cmp.Compare(a, b))
	})
	for i, name := range names {
		names[i] = filepath.Join(dir, name)
	}
	return names, nil
}

// numberOf returns the number that a file is named by, -1 for another name.
func numberOf(name string) int {
	n, err := strconv.Atoi(strings.TrimSuffix(name, filepath.Ext(name)))
	if err != nil {
		return -1
	}
	return n
}

// A place is where a row was read.
type place struct {
	file string
	line int
}

// A loader reads files of one kind of rows and holds their ids apart.
type loader[T any] struct {
	*table[T]
	seen map[int64]place
}

// read reads one file: a dump when its name ends in .sql, otherwise JSON lines.
func (l *loader[T]) read(path string) ([]T, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("load data: want %ss: %w", l.name, err)
	}
	defer f.Close()
	parse := parseLines[T]
	if strings.HasSuffix(path, ".sql") {
		parse = parseDump[T]
	}
	var rows []T
	err = parse(f, l.table, func(line int, row T) error {
		id := l.id(&row)
		if at, again := l.seen[id]; again {
			return fmt.Errorf("id %d is taken by the row at %s:%d", id, at.file, at.line)
		}
		if len(l.seen) == maxRows {
			return fmt.Errorf("want at most %d rows", maxRows)
		}
		if err := l.check(&row); err != nil {
			return err
		}
		l.seen[id] = place{path, line}
		rows = append(rows, row)
		return nil
	})
	var at *lineError
	switch {
	case errors.As(err, &at):
		return nil, fmt.Errorf("load data: %s:%d: %w", path, at.line, at.err)
	case err != nil:
		return nil, fmt.Errorf("load data: %s: %w", path, err)
	case len(rows) == 0:
		return nil, fmt.Errorf("load data: %s: want %ss, have none", path, l.name)
	}
	return rows, nil
}

// A lineError is what is wrong at a line, which counts from 1.
type lineError struct {
	line int
	err  error
}

func (e *lineError) Error() string { return fmt.Sprintf("line %d: %v", e.line, e.err) }
func (e *lineError) Unwrap() error { return e.err }
