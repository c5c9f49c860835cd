package slowlog

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/kasoku/kasoku/logs/lines"
)

// hostSlow is the slow log of one server of several.
func hostSlow(seed uint64, n int) string {
	r := rand.New(rand.NewPCG(seed, 9))
	var b strings.Builder
	at := time.Date(2026, 11, 20, 3, 0, 0, 0, time.UTC).Unix()
	entry := func(conn int, sql string) {
		at += int64(r.IntN(2))
		fmt.Fprintf(&b, "# User@Host: %s[%s] @ web%d [10.0.0.%d]\n# Thread_id: %d  Schema: shop  QC_hit: No\n"+
			"# Query_time: %.6f  Lock_time: 0.000%03d  Rows_sent: %d  Rows_examined: %d\n# Rows_affected: %d  Bytes_sent: %d\n"+
			"SET timestamp=%d;\n%s;\n", []string{"app", "batch"}[r.IntN(2)], "app", r.IntN(3), r.IntN(40), conn, r.ExpFloat64()*0.01,
			r.IntN(1000), r.IntN(10), r.IntN(100_000), r.IntN(2), r.IntN(9000), at, sql)
	}
	for i := range n {
		conn := 10 + r.IntN(30) + int(seed)*7
		switch r.IntN(6) {
		case 0:
			entry(conn, "BEGIN")
			entry(conn, fmt.Sprintf("SELECT * FROM stock WHERE id = %d FOR UPDATE", r.IntN(100)))
			entry(conn, fmt.Sprintf("UPDATE stock SET n = n - 1 WHERE id = %d", r.IntN(100)))
			entry(conn, []string{"COMMIT", "ROLLBACK", "COMMIT /* order */"}[r.IntN(3)])
		case 1:
			for range 12 {
				entry(conn, fmt.Sprintf("SELECT name FROM user WHERE id = %d", r.IntN(4000)))
			}
		case 2:
			id := r.IntN(1 << 20)
			entry(conn, fmt.Sprintf("UPDATE setting SET v = 'a' WHERE id = %d", id))
			entry(conn, fmt.Sprintf("SELECT * FROM setting WHERE id = %d", id))
			entry(conn, fmt.Sprintf("INSERT INTO setting (id, v) VALUES (%d, 'a')", id))
		case 3:
			entry(conn, fmt.Sprintf("SELECT * FROM own_%d WHERE t > '%d'", seed, i))
		default:
			entry(conn, fmt.Sprintf("SELECT * FROM item WHERE shop = %d AND note = 'it''s %d' /* route:/a/%d */", r.IntN(60), i, r.IntN(3)))
		}
	}
	return b.String()
}

// shown is all that a table is reported from.
func shown(t *testing.T, table *Table) string {
	t.Helper()
	b, err := json.MarshalIndent(map[string]any{"classes": table.Classes(), "transactions": table.Transactions(),
		"saves": table.Saves(), "connections": table.Connections(), "statements": table.Statements(), "admin": table.Admin(),
		"notes": table.notes(), "overall": table.Overall()}, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// TestTravel: tables of logs that hosts read, as they travel, merge to what one reading of each of them shows, whatever
// makes a row and however many read.
func TestTravel(t *testing.T) {
	texts := []string{hostSlow(1, 900), hostSlow(2, 10), "", hostSlow(3, 1500), hostSlow(4, 2)}
	for _, o := range []Options{{}, {Split: SplitAll}, {By: ByTables}, {By: ByUser}, {MaxQueries: 4}} {
		o.Workers = 1
		var in []lines.Input
		for _, text := range texts {
			in = append(in, lines.Input{R: strings.NewReader(text)})
		}
		one, _, err := CollectEach(t.Context(), in, o, nil)
		if err != nil {
			t.Fatal(err)
		}
		o.Workers = 3
		merged := NewTable(o)
		for i, text := range texts {
			part, _, err := CollectOne(t.Context(), lines.Input{R: strings.NewReader(text)}, 0, o, nil)
			if err != nil {
				t.Fatal(err)
			}
			b, err := AppendBinary(nil, part)
			if err != nil {
				t.Fatal(err)
			}
			if part, err = Read(o, b, i); err != nil {
				t.Fatal(err)
			}
			merged.Merge(part)
		}
		if got, want := shown(t, merged), shown(t, one); got != want || one.Statements() < 1000 {
			i := 0
			for i < min(len(got), len(want)) && got[i] == want[i] {
				i++
			}
			t.Errorf("%+v: %d and %d bytes differ at %d: %.300q and %.300q", o, len(got), len(want), i, got[max(i-100, 0):], want[max(i-100, 0):])
		}
		if o.By == ByFingerprint && o.MaxQueries == 0 && (len(one.Transactions()) == 0 || len(one.Saves()) == 0) {
			t.Errorf("%+v: no transactions, or no saves", o)
		}
	}
}

// TestCollectEach: one log gives what it always gave.
func TestCollectEach(t *testing.T) {
	text := hostSlow(7, 1200)
	all, w, err := CollectAll(t.Context(), []lines.Input{{R: strings.NewReader(text), Path: "a"}}, Options{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	each, v, err := CollectEach(t.Context(), []lines.Input{{R: strings.NewReader(text), Path: "a"}}, Options{}, nil)
	if err != nil || shown(t, all) != shown(t, each) || fmt.Sprint(w) != fmt.Sprint(v) {
		t.Errorf("%v; they differ: %v, %v", err, w, v)
	}
}

// TestTravel_Stays: what only a run has does not travel.
func TestTravel_Stays(t *testing.T) {
	o := Options{Attributes: true}
	if _, err := AppendBinary(nil, NewTable(o)); err == nil {
		t.Error("attributes travel")
	}
	if _, err := Read(o, []byte{travelVersion}, 0); err == nil {
		t.Error("attributes are read")
	}
}

// FuzzTravel: what is read is written as the same bytes, and can be merged and shown.
func FuzzTravel(f *testing.F) {
	for _, text := range []string{hostSlow(1, 40), hostSlow(2, 3), ""} {
		table, _, err := CollectOne(f.Context(), lines.Input{R: strings.NewReader(text)}, 0, Options{}, nil)
		if err != nil {
			f.Fatal(err)
		}
		b, err := AppendBinary(nil, table)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		table, err := Read(Options{}, b, 3)
		if err != nil {
			return
		}
		again, err := AppendBinary(nil, table)
		if err != nil || !bytes.Equal(again, b) {
			t.Errorf("%v: %q was read, and is %q", err, b, again)
		}
		sum := NewTable(Options{})
		sum.Merge(table)
		sum.Merge(table)
		_ = sum.Classes()
		_ = sum.Transactions()
		_ = sum.Overall()
	})
}
