package accesslog

import (
	"fmt"
	"reflect"
	"testing"
)

// TestTableNext: tables that go on with one another add up to the table that had all
// the records, details too.
func TestTableNext(t *testing.T) {
	o := Options{Detail: true}
	whole, part := NewTable(o), NewTable(o)
	var parts []*Table
	p := whole.Parser(mustFormat(t, "ltsv"))
	for i := range 3000 {
		// Names fold only after many of them were seen: in the midst of a part.
		line := fmt.Sprintf("time:2026-11-21T08:00:%02d+00:00\tmethod:GET\turi:/shops/%c%c%c/items\tstatus:200\tsize:%d\treqtime:0.0%02d",
			i/50, 'a'+i*7%26, 'a'+i*3%26, 'a'+i%26, i%10, i%50)
		var r Record
		if why := p.Parse([]byte(line), &r); why != "" {
			t.Fatal(why)
		}
		whole.Add(&r)
		part.Add(&r)
		if i%250 == 249 {
			parts = append(parts, part)
			part = part.Next()
		}
	}
	sum := part.Next()
	for _, one := range append(parts, part) {
		sum.Merge(one)
	}
	got, want := sum.Endpoints(), whole.Endpoints()
	if len(want) == 0 || len(want) > 100 {
		t.Fatalf("%d routes: nothing folds", len(want))
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%d routes, want %d\ngot  %+v\nwant %+v", len(got), len(want), got[0], want[0])
	}
}

// TestFollower: lines wait for those that reveal their format, and each is accounted
// for.
func TestFollower(t *testing.T) {
	table := NewTable(Options{})
	f := table.Follower("a.log", nil)
	var paths []string
	each := func(r *Record) { paths = append(paths, string(r.Path)) }
	f.Line([]byte("\x1b[2J what"), each)
	f.Settle(each)
	if w := f.Window(); len(paths) != 0 || w.Dropped != 1 || w.Format != "" {
		t.Errorf("%q, %+v", paths, w)
	}
	f.Line([]byte(`h - - [21/Nov/2026:08:00:00 +0000] "GET /a HTTP/1.1" 200 5 "-" "x" 0.021`), each)
	if len(paths) != 0 {
		t.Error("a line was read before its format was known")
	}
	f.Settle(each)
	f.Line([]byte(`h - - [21/Nov/2026:08:00:01 +0000] "GET /b HTTP/1.1" 200 5 "-" "x" 0.021`), each)
	f.Line(nil, each)
	f.Line([]byte("no"), each)
	f.Note("rotated")
	f.Note("rotated")
	w := f.Window()
	if fmt.Sprint(paths) != "[/a /b]" || w.Lines != 5 || w.Records != 2 || w.Dropped != 2 || w.Blank != 1 || w.Path != "a.log" {
		t.Errorf("%q, %+v", paths, w)
	}
}

// TestFollowerNumbers: a line that waited for its format keeps its own number.
func TestFollowerNumbers(t *testing.T) {
	f := NewTable(Options{}).Follower("a.log", nil)
	var lines []int64
	each := func(r *Record) { lines = append(lines, r.Line) }
	for n := 1; n <= 300; n++ {
		line := `h - - [21/Nov/2026:08:00:00 +0000] "GET /a HTTP/1.1" 200 5 "-" "x" 0.021`
		if n == 3 || n == 7 {
			line = "garbage"
		}
		f.Line([]byte(line), each)
	}
	f.Settle(each)
	bad := f.Window().BadSample
	if len(bad) != 2 || bad[0].Line != 3 || bad[1].Line != 7 {
		t.Errorf("bad lines %+v, want 3 and 7", bad)
	}
	if len(lines) != 298 || lines[2] != 4 || lines[297] != 300 {
		t.Errorf("%d records, at lines %v …", len(lines), lines[:min(len(lines), 8)])
	}
}
