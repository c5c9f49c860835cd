package unit

import (
	"slices"
	"testing"
)

func TestParseCores(t *testing.T) {
	f := func(list, again string, want ...int) {
		t.Helper()
		got := ParseCores(list)
		if !slices.Equal(got, want) {
			t.Errorf("%q: %v, want %v", list, got, want)
		}
		if s := FormatCores(got); s != again {
			t.Errorf("%v: %q, want %q", got, s, again)
		}
	}
	f("0-2,8\n", "0-2,8", 0, 1, 2, 8)
	f("3", "3", 3)
	f("2,1,1,0", "0-2", 0, 1, 2)
	f("", "")
	f("x,-1,2-1", "")
}

func FuzzParseCores(f *testing.F) {
	for _, s := range []string{"0-2,8\n", "0-99999999", "3-1", "", "a-b"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		all := ParseCores(s)
		if len(all) > MostCores || !slices.IsSorted(all) {
			t.Fatalf("%d cores", len(all))
		}
		if again := ParseCores(FormatCores(all)); !slices.Equal(again, all) {
			t.Fatalf("%v came back as %v", all, again)
		}
	})
}
