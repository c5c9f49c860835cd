package store

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/kasoku/kasoku"
)

func manual(tb testing.TB) string {
	tb.Helper()
	b, err := os.ReadFile("../docs/runfile.md")
	if err != nil {
		tb.Fatal(err)
	}
	return string(b)
}

// TestManualStatements runs every statement of docs/runfile.md on a run that has
// something in every table: a SELECT must find rows.
func TestManualStatements(t *testing.T) {
	blocks := regexp.MustCompile("(?s)```sql\n(.*?)```").FindAllStringSubmatch(manual(t), -1)
	if len(blocks) < 8 {
		t.Fatalf("%d statements", len(blocks))
	}
	for _, b := range blocks {
		path := tempRun(t)
		if err := Write(path, sampleRecording()); err != nil {
			t.Fatal(err)
		}
		if !strings.HasPrefix(b[1], "SELECT") {
			execute(t, path, b[1])
			scrubbed(t, path)
			continue
		}
		db, err := connect(path, reading)
		if err != nil {
			t.Fatal(err)
		}
		rows, err := db.Query(b[1])
		if err != nil {
			t.Errorf("%v:\n%s", err, b[1])
		} else {
			if !rows.Next() {
				t.Errorf("finds nothing (%v):\n%s", rows.Err(), b[1])
			}
			rows.Close()
		}
		db.Close()
	}
}

// scrubbed checks a file whose sensitive text was dropped: all else stands.
func scrubbed(t *testing.T, path string) {
	t.Helper()
	want := sampleRecording()
	want.Run.Command.Output = ""
	want.Configs[0].Text = ""
	want.Logs[0].BadSample, want.Queries[0].Sample, want.Saves[0].Sample, want.Messages[0].Sample = nil, "", nil, ""
	want.Queries[0].Raw, want.Slowest[0].URI, want.Plans[0].Text = "", "", ""
	for i := range want.Diagnosis.Findings[0].Evidence {
		e := &want.Diagnosis.Findings[0].Evidence[i]
		e.Text, e.Note = "", ""
	}
	rec := mustOpen(t, path)
	if d := difference(rec, want); d != "" {
		t.Errorf("scrubbed: %s, damage %v", d, rec.Damage)
	}
	file := string(mustRead(t, path))
	for _, secret := range []string{"rubb\x01sh", "INSERT INTO users (id, name, mail) VALUES (?, ?, ?)", "first 14:02:39.412", "Success 30.5 %", "max_connections = 151", "a@b", "full=1", "1\tSIMPLE"} {
		if strings.Contains(file, secret) {
			t.Errorf("%q is still in the file", secret)
		}
	}
}

// TestManualTables compares the tables of docs/runfile.md with those of a file,
// column by column.
func TestManualTables(t *testing.T) {
	got := map[string][]string{}
	var names []string
	name := ""
	for line := range strings.Lines(manual(t)) {
		if rest, ok := strings.CutPrefix(line, "### "); ok {
			name = strings.TrimSpace(rest)
			names = append(names, name)
		} else if m := regexp.MustCompile("^\\| `([a-z0-9_]+)` \\|").FindStringSubmatch(line); m != nil {
			got[name] = append(got[name], m[1])
		}
	}
	path := tempRun(t)
	record(t, path, 5, 1)
	db, err := connect(path, reading)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	tables := append(allTables(), of(sumTable()))
	for _, table := range tables {
		columns, err := columnsOf(db, table.name)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(columns, table.columns) {
			t.Errorf("table %s has columns %v, the code knows %v", table.name, columns, table.columns)
		}
		if want := append([]string{"id"}, columns...); !slices.Equal(got[table.name], want) {
			t.Errorf("table %s: the manual has %v, the file %v", table.name, got[table.name], want)
		}
	}
	if len(names) != len(tables) {
		t.Errorf("the manual has %d tables, the file %d", len(names), len(tables))
	}
	if n := query[int](t, path, "SELECT count(*) FROM sqlite_schema WHERE type = 'table'"); n != len(tables) {
		t.Errorf("the file has %d tables, the code knows %d", n, len(tables))
	}
	if want := fmt.Sprintf("Schema version: %d.", current(t).version()); !strings.Contains(manual(t), want) {
		t.Errorf("the manual does not say %q", want)
	}
}

func ExampleCreate() {
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	run := kasoku.Run{Label: "before", Hosts: []kasoku.Host{{Name: "lab1"}}}
	w, err := Create(dir+"/before.kasoku", run)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer w.Close()

	f := &kasoku.Frame{Host: "lab1", Source: "mysql", At: 1e9}
	f.Counter("Connections", "", "count", 12)
	if err := w.Frame(f); err != nil { // each second
		fmt.Println(err)
		return
	}
	run.Length = 2e9
	if err := w.Finish(run); err != nil {
		fmt.Println(err)
		return
	}

	path, err := Resolve(dir, "before")
	if err != nil {
		fmt.Println(err)
		return
	}
	rec, err := Open(path)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(rec.Run.State, rec.Run.Length, rec.Series[0].Key.Name, rec.Series[0].Points)
	// Output: finished 2s Connections [{1s 12}]
}
