package parquet

import (
	"bytes"
	"encoding/binary"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/kasoku/kasoku/internal/test/peertest"
)

var all = []Column{{"t", Time}, {"n", Int}, {"x", Float}, {"s", Text}}

// ask has DuckDB answer a question about a file, as CSV.
func ask(t *testing.T, path, sql string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), peertest.Path(t, "duckdb"), "-csv", "-noheader", "-c", "SET TimeZone='UTC'", "-c", sql)
	cmd.Dir = filepath.Dir(path)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", sql, err, out)
	}
	return strings.TrimSpace(string(out))
}

// TestWriter: DuckDB reads what was written: several row groups, values that are missing, any text.
func TestWriter(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.parquet")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	w, err := NewWriter(f, all...)
	if err != nil {
		t.Fatal(err)
	}
	at := time.Date(2026, 11, 20, 5, 2, 11, 123456789, time.UTC)
	const rows = 2*groupRows + 77
	for i := range rows {
		row := []any{at.Add(time.Duration(i) * time.Second), int64(i - 5), float64(i) / 4, "日本 \"" + strings.Repeat("x", i%7)}
		if i%10 == 3 {
			row = []any{nil, nil, nil, nil}
		}
		if err := w.Row(row...); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	for sql, want := range map[string]string{
		"SELECT count(*), count(t), count(n), count(x), count(s) FROM 'a.parquet'":              "262221,235999,235999,235999,235999",
		"SELECT sum(n), sum(x), sum(length(s)) FROM 'a.parquet'":                                "30940701339,7735470333.5,1651990",
		"SELECT min(t), max(t) - min(t) FROM 'a.parquet'":                                       "2026-11-20 05:02:11.123456+00,3 days 00:50:20",
		"SELECT * FROM 'a.parquet' LIMIT 1 OFFSET 6":                                            "2026-11-20 05:02:17.123456+00,1,1.5,\"日本 \"\"xxxxxx\"",
		"SELECT string_agg(DISTINCT typeof(COLUMNS(*))) FROM 'a.parquet'":                       "TIMESTAMP WITH TIME ZONE,BIGINT,DOUBLE,VARCHAR",
		"SELECT num_rows, num_row_groups FROM parquet_file_metadata('a.parquet')":               "262221,3",
		"SELECT DISTINCT compression FROM parquet_metadata('a.parquet')":                        "ZSTD",
		"SELECT sum(row_group_num_rows) FROM parquet_metadata('a.parquet') WHERE column_id = 0": "262221",
	} {
		if got := ask(t, path, sql); got != want {
			t.Errorf("%s: %s, want %s", sql, got, want)
		}
	}
}

// TestWriter_Empty: a table without rows has its columns.
func TestWriter_Empty(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.parquet")
	var b bytes.Buffer
	w, err := NewWriter(&b, all...)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	text := b.Bytes()
	if n := len(text); string(text[:4]) != magic || string(text[n-4:]) != magic || int(binary.LittleEndian.Uint32(text[n-8:])) != n-12 {
		t.Errorf("%q", text)
	}
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	if got := ask(t, path, "SELECT count(s) FROM 'a.parquet'"); got != "0" {
		t.Errorf("%s rows", got)
	}
}

// TestRow: what does not fit its column is refused, and an error of the file stays.
func TestRow(t *testing.T) {
	w, err := NewWriter(new(bytes.Buffer), all...)
	if err != nil {
		t.Fatal(err)
	}
	good := []any{time.Now(), int64(1), 1.5, "a"}
	if err := w.Row(good...); err != nil {
		t.Error(err)
	}
	for i := range good {
		bad := append([]any(nil), good...)
		bad[i] = good[(i+1)%len(good)]
		if err := w.Row(bad...); err == nil {
			t.Errorf("%T in column %s", bad[i], all[i].Name)
		}
	}
	if err := w.Row(1, 2); err == nil {
		t.Error("a short row is taken")
	}
	if _, err := NewWriter(full{}, all...); err == nil {
		t.Error("a full disk is no error")
	}
}

type full struct{}

func (full) Write([]byte) (int, error) { return 0, os.ErrClosed }
