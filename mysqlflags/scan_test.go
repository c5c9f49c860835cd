package mysqlflags

import (
	"errors"
	"math"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// rowOf makes a row of name, value pairs.
func rowOf(pairs ...string) row {
	r := row{}
	for i := 0; i < len(pairs); i += 2 {
		r[pairs[i]] = &pairs[i+1]
	}
	return r
}

type everything struct {
	Text    string `mysqlvar:"Text"`
	Int     int64  `mysqlvar:"Int"`
	Small   int8
	Uint    uint64 `mysqlvar:"Uint"`
	Float   float64
	Yes     bool
	State   Bool `mysqlvar:"Slave_IO_Running"`
	Bytes   []byte
	Any     any
	Pointer *int   `mysqlvar:"P"`
	Missing *int   `mysqlvar:"Not_there"`
	Skipped string `mysqlvar:"-"`
	private string
	embedded
}

type embedded struct {
	Inner string `mysqlvar:"Inner"`
}

func TestScan_Struct(t *testing.T) {
	q := &QueryMap{rows: []row{rowOf("Text", "a", "INT", "-5", "small", "7", "Uint", "18446744073709551615", "FLOAT", "1.5", "yes", "ON",
		"Slave_IO_Running", "Connecting", "bytes", "b", "Any", "x", "P", "3", "Inner", "in", "Further", "ignored")}}
	got := everything{Missing: ptr(9), Skipped: "kept", private: "kept"}
	want := everything{Text: "a", Int: -5, Small: 7, Uint: math.MaxUint64, Float: 1.5, Yes: true, State: Bool{"Connecting"},
		Bytes: []byte("b"), Any: "x", Pointer: ptr(3), Skipped: "kept", private: "kept", embedded: embedded{"in"}}
	if err := q.Scan(&got); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%v\ngot  %+v\nwant %+v", err, got, want)
	}
	if got.State.Yes() || got.State.String() != "Connecting" {
		t.Error(got.State)
	}
}

// TestScan_Squash: a struct in a field may be read from the same row, as mapstructure,
// which go-mysqlflags has beneath, has it.
func TestScan_Squash(t *testing.T) {
	q := &QueryMap{rows: []row{rowOf("Inner", "in", "Own", "1")}}
	var got struct {
		Part embedded `mysqlvar:",squash"`
		part embedded `mysqlvar:",squash"`
		Own  int
	}
	if err := q.Scan(&got); err != nil || got.Part.Inner != "in" || got.Own != 1 || got.part.Inner != "" {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestScan_Slice(t *testing.T) {
	q := &QueryMap{rows: []row{rowOf("ID", "1"), rowOf("ID", "2")}}
	type item struct{ ID int }
	items := []item{{9}, {9}, {9}}
	if err := q.Scan(&items); err != nil || !reflect.DeepEqual(items, []item{{1}, {2}}) {
		t.Errorf("%+v, %v", items, err)
	}
	var pointers []*item
	if err := q.Scan(&pointers); err != nil || len(pointers) != 2 || pointers[1].ID != 2 {
		t.Errorf("%+v, %v", pointers, err)
	}
	var maps []map[string]string
	if err := q.Scan(&maps); err != nil || maps[1]["ID"] != "2" {
		t.Errorf("%+v, %v", maps, err)
	}
	var numbers map[string]int
	if err := q.Scan(&numbers); err != nil || numbers["ID"] != 1 {
		t.Errorf("%+v, %v", numbers, err)
	}
	if err := (&QueryMap{}).Scan(&items); err != nil || len(items) != 0 {
		t.Errorf("no rows: %+v, %v", items, err)
	}
	var one item
	if err := (&QueryMap{}).Scan(&one); !errors.Is(err, ErrNoRows) || err.Error() != "no sql result" {
		t.Errorf("no rows: %v", err)
	}
}

func TestScan_Null(t *testing.T) {
	q := &QueryMap{rows: []row{{"A": nil, "B": nil, "C": nil}}}
	got := struct {
		A string
		B int
		C *int
	}{"x", 1, ptr(1)}
	if err := q.Scan(&got); err != nil || got.A != "" || got.B != 0 || got.C != nil {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestScan_Failure(t *testing.T) {
	q := &QueryMap{rows: []row{rowOf("A", "x", "B", "300", "C", "-1")}}
	f := func(dest any, want string) {
		t.Helper()
		err := q.Scan(dest)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%T: %v", dest, err)
		}
	}
	f(struct{ A string }{}, "not a pointer")
	f((*struct{ A string })(nil), "not a pointer")
	f(&struct{ A int }{}, `column "A" into struct { A int }.A: "x" as int: invalid syntax`)
	f(&struct{ B int8 }{}, `"300" as int8: value out of range`)
	f(&struct{ C uint }{}, `"-1" as uint: invalid syntax`)
	f(&struct{ D int }{}, `the result has no "D"`)
	f(&[]struct{ D int }{}, `scan row 1: the result has no "D"`)
	f(&struct{ A chan int }{}, "not supported")
	f(&struct{ A []int }{}, "not supported")
	f(&struct{ A error }{}, "not supported")
	f(new(int), "neither struct nor map")
	f(&map[int]string{}, "no strings")
	f(&map[string]int{}, "invalid syntax")

	var missing *MissingError
	if err := q.Scan(&struct{ D int }{}); !errors.As(err, &missing) || missing.Hint() == "" {
		t.Error(err)
	}
	got := struct{ A, D string }{"kept", "kept"}
	if err := q.Scan(&got); err == nil || got.A != "kept" {
		t.Errorf("half filled: %+v, %v", got, err)
	}
	boom := errors.New("boom")
	if err := (&QueryMap{err: boom}).Scan(&got); !errors.Is(err, boom) {
		t.Error(err)
	}
}

func TestBool(t *testing.T) {
	f := func(s string, yes bool) {
		t.Helper()
		if (Bool{s}).Yes() != yes {
			t.Errorf("%q", s)
		}
	}
	for _, s := range []string{"Yes", "yes", "YES", "On", "ON", "on", "1", "TRUE", "true"} {
		f(s, true)
	}
	for _, s := range []string{"", "No", "OFF", "0", "Connecting", "Preparing", "2"} {
		f(s, false)
	}
}

func TestScan_Numbers(t *testing.T) {
	type numbers struct {
		I int64
		U uint32
		F float64
	}
	rapid.Check(t, func(t *rapid.T) {
		want := numbers{rapid.Int64().Draw(t, "i"), rapid.Uint32().Draw(t, "u"), rapid.Float64().Draw(t, "f")}
		r := rowOf("i", strconv.FormatInt(want.I, 10), "u", strconv.FormatUint(uint64(want.U), 10), "f", strconv.FormatFloat(want.F, 'g', -1, 64))
		var got numbers
		if err := (&QueryMap{rows: []row{r}}).Scan(&got); err != nil || got != want {
			t.Fatalf("got %+v, %v, want %+v", got, err, want)
		}
	})
}
