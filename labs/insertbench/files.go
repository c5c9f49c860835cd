package insertbench

import (
	"context"
	"crypto/sha1"
	"database/sql"
	"encoding/csv"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/kasoku/kasoku/internal/private"
)

const (
	importFile = "import_users.csv"
	exportFile = "export_users.csv"

	rowsOfFile = 10_000
	cells      = 7 // of a row
	header     = "name,email,email_verified_at,password,remember_token,created_at,updated_at\n"
	seconds    = "2006-01-02 15:04:05"
)

// writeImport writes the file of rows that a round inserts.
func writeImport(dir string) error { return writeRows(dir, rowsOfFile) }

func writeRows(dir string, n int) error {
	var b strings.Builder
	b.WriteString(header)
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC).Format(seconds)
	for i := range n {
		sum := sha1.Sum(fmt.Append(nil, i))
		hash := hex.EncodeToString(sum[:])
		fmt.Fprintf(&b, "名前%d,test%d@example.com,%s,%s,%s,%s,%s\n", i, i, at, hash, hash[:10], at, at)
	}
	return private.State.WriteFile(filepath.Join(dir, importFile), []byte(b.String()))
}

// readRows reads the rows of a file, without its header.
func readRows(path string) ([][]string, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	r := csv.NewReader(f)
	r.FieldsPerRecord = cells
	all, err := r.ReadAll()
	if err != nil || len(all) < 2 {
		return nil, errors.Join(err, fmt.Errorf("%s has no rows", filepath.Base(path)))
	}
	return all[1:], nil
}

// export writes all rows of the table in order, each by a call of its own.
func (b *bench) export(ctx context.Context) (err error) {
	rows, err := b.db.QueryContext(ctx, "SELECT * FROM users ORDER BY id")
	if err != nil {
		return err
	}
	defer rows.Close()
	f, err := os.Create(filepath.Join(b.files, exportFile))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if _, err := f.WriteString(header); err != nil {
		return err
	}
	for rows.Next() {
		var id uint64
		var name, email, password string
		var token sql.NullString
		var verified, created, updated sql.NullTime
		if err := rows.Scan(&id, &name, &email, &verified, &password, &token, &created, &updated); err != nil {
			return err
		}
		line := strings.Join([]string{name, email, verified.Time.Format(seconds), password, token.String,
			created.Time.Format(seconds), updated.Time.Format(seconds)}, ",")
		if _, err := f.WriteString(line + "\n"); err != nil {
			return err
		}
	}
	return rows.Err()
}

// compareFile reports the first row of a file that differs from what was inserted.
func compareFile(want [][]string, path string) error {
	got, err := readRows(path)
	if err != nil {
		return err
	}
	if len(got) != len(want) {
		return fmt.Errorf("%d rows were exported, want %d", len(got), len(want))
	}
	for i := range want {
		if !slices.Equal(want[i], got[i]) {
			return fmt.Errorf("row %d was exported as %q, want %q", i+1, got[i], want[i])
		}
	}
	return nil
}
