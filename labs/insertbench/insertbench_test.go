package insertbench

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/kasoku/kasoku/internal/command"
	"github.com/kasoku/kasoku/internal/test/turn"
	"github.com/kasoku/kasoku/labs/kit"
	"github.com/kasoku/kasoku/mysqlflags"
	"github.com/kasoku/kasoku/sandbox"
)

// TestTwins: the programs in Go and in Python, and each set of defects, leave the same rows
// in the table and in the file, which are those of the file that they read.
func TestTwins(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a database")
	}
	turn.Wait(t)
	ctx := t.Context()
	const n = 60
	db, err := sandbox.MariaDB(ctx, sandbox.Options{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Stop(context.WithoutCancel(ctx)) })
	root, err := mysqlflags.OpenDSN(db.DSN("root", ""))
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	if _, err := root.ExecContext(ctx, "CREATE DATABASE insertbench CHARACTER SET utf8mb4"); err != nil {
		t.Fatal(err)
	}
	files, dsn, first := t.TempDir(), db.DSN("root", "insertbench"), ""
	if err := writeRows(files, n); err != nil {
		t.Fatal(err)
	}
	want, err := os.ReadFile(filepath.Join(files, importFile))
	if err != nil {
		t.Fatal(err)
	}
	check := func(name string, printed []byte) {
		t.Helper()
		var r result
		if err := json.Unmarshal(printed, &r); err != nil || !r.Pass || r.Rounds != rounds || r.Rows != rounds*n ||
			r.Score <= 0 || r.Seconds <= 0 || len(r.Messages) != 1 {
			t.Errorf("%s: %q, %v", name, printed, err)
		}
		if got, err := os.ReadFile(filepath.Join(files, exportFile)); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s: %d bytes were exported, want %d; %v", name, len(got), len(want), err)
		}
		var rows, sum string
		const checksum = "SELECT COUNT(*), SUM(CRC32(CONCAT_WS(',', id, name, email, email_verified_at, password, " +
			"remember_token, created_at, updated_at))) FROM insertbench.users"
		if err := root.QueryRowContext(ctx, checksum).Scan(&rows, &sum); err != nil {
			t.Fatal(err)
		}
		if first == "" {
			first = sum
		}
		if rows != fmt.Sprint(n) || sum != first {
			t.Errorf("%s: %s rows with checksum %s, want %d with %s", name, rows, sum, n, first)
		}
		if err := os.Remove(filepath.Join(files, exportFile)); err != nil {
			t.Fatal(err)
		}
	}
	run := func(d kit.Set, whole time.Duration) []byte {
		t.Helper()
		var out bytes.Buffer
		if err := runService(ctx, kit.Config{DSN: dsn, Defects: d, Files: files, Duration: whole,
			Out: &out}); err != nil {
			t.Fatalf("%s: %v", d, err)
		}
		return out.Bytes()
	}
	for _, d := range []kit.Set{{"DRV-01", "DBC-01", "HW-11"}, {"HW-11"}, {"DBC-01"}, {"DRV-02"},
		{"DRV-02", "HW-11"}, {}} {
		check(d.String(), run(d, time.Hour))
	}
	line, err := prepareTwin(ctx, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	twin := func(seconds string) []byte {
		t.Helper()
		printed, err := command.Output(ctx, command.Spec{Path: line[0], Args: append(line[1:], "--files", files,
			"--seconds", seconds),
			Env: []string{"KASOKU_LAB_DSN=" + dsn}}, 1<<10)
		if err != nil {
			t.Fatal(err)
		}
		return printed
	}
	check("python", twin("3600"))

	// A time that is over at once leaves a part of one round, of which all is compared.
	for name, printed := range map[string][]byte{"go": run(kit.Set{"HW-11"}, 1), "go in groups": run(kit.Set{}, 1),
		"python": twin("0")} {
		var r result
		if err := json.Unmarshal(printed, &r); err != nil || r.Rounds != 1 || r.Rows < 1 || r.Rows > n ||
			r.Score <= 0 {
			t.Errorf("%s without time: %q, %v", name, printed, err)
		}
	}
}

// TestCompareFile: a cell that differs is found.
func TestCompareFile(t *testing.T) {
	dir := t.TempDir()
	if err := writeRows(dir, 3); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, importFile)
	rows, err := readRows(path)
	if err != nil || len(rows) != 3 {
		t.Fatalf("%q, %v", rows, err)
	}
	if err := compareFile(rows, path); err != nil {
		t.Error(err)
	}
	rows[1][3] = "x"
	if err := compareFile(rows, path); err == nil {
		t.Error("another password was not found")
	}
	if err := compareFile(rows[:2], path); err == nil {
		t.Error("a row too many was not found")
	}
}
