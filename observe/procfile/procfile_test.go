package procfile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

func TestFileIsReadWholeAndAgain(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	f := func(content string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	f("first")
	file, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()

	// The buffer starts empty, then too small, then large enough.
	var buf []byte
	for _, want := range []string{"first", strings.Repeat("long ", 10_000), "", "short"} {
		f(want)
		got, err := file.Append(buf[:0])
		if err != nil {
			t.Fatal(err)
		}
		if string(got) != want {
			t.Fatalf("got %d bytes, want %d", len(got), len(want))
		}
		buf = got
	}
	// What is there already stays in front.
	got, err := file.Append([]byte("kept "))
	if err != nil || string(got) != "kept short" {
		t.Fatalf("got %q, %v", got, err)
	}
	if err := errors.Join(file.Close(), file.Close()); err != nil {
		t.Fatal(err)
	}
	if got, err := file.Append(buf[:0]); err == nil || len(got) != 0 {
		t.Fatalf("read after close: %q, %v", got, err)
	}
}

// The kernel gives files of several records page by page.
func TestFileLongerThanOnePage(t *testing.T) {
	file, err := Open("/proc/self/smaps")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	got, err := file.Append(nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(got) < 8192 || got[len(got)-1] != '\n' {
		t.Fatalf("%d bytes", len(got))
	}
}

func TestOpenSaysWhy(t *testing.T) {
	_, err := Open("/proc/no-such-file")
	if !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), "/proc/no-such-file") {
		t.Fatal(err)
	}
	if _, err := OpenDir("/proc/stat"); err == nil {
		t.Fatal("a file was opened as a directory")
	}
}

func TestDirListsNumbersAgain(t *testing.T) {
	path := t.TempDir()
	mk := func(name string) {
		t.Helper()
		if err := os.Mkdir(filepath.Join(path, name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	var want []uint64
	for i := range 500 { // more than one block of entries
		mk(strconv.Itoa(i))
		want = append(want, uint64(i))
	}
	mk("self")
	mk("12a")

	d, err := OpenDir(path)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	for range 2 {
		got, err := d.AppendNumbers(nil)
		if err != nil {
			t.Fatal(err)
		}
		slices.Sort(got)
		if !slices.Equal(got, want) {
			t.Fatalf("got %d numbers, want %d", len(got), len(want))
		}
	}
	if err := errors.Join(d.Close(), d.Close()); err != nil {
		t.Fatal(err)
	}
	if _, err := d.AppendNumbers(nil); err == nil {
		t.Fatal("listed after close")
	}
}

func TestWord(t *testing.T) {
	f := func(line, word, rest string) {
		t.Helper()
		gotWord, gotRest := Word([]byte(line))
		if string(gotWord) != word || string(gotRest) != rest {
			t.Fatalf("Word(%q) = %q, %q", line, gotWord, gotRest)
		}
	}
	f("", "", "")
	f("  \t", "", "")
	f("one", "one", "")
	f(" one two", "one", " two")
	f("\tone\ttwo ", "one", "\ttwo ")
}

func TestLine(t *testing.T) {
	f := func(text string, want ...string) {
		t.Helper()
		rest := []byte(text)
		var got []string
		for {
			line, r, ok := Line(rest)
			if !ok {
				break
			}
			got, rest = append(got, string(line)), r
		}
		if !slices.Equal(got, want) {
			t.Fatalf("Line(%q) = %q", text, got)
		}
	}
	f("")
	f("a", "a")
	f("a\n", "a")
	f("a\n\nb", "a", "", "b")
}

func TestUint(t *testing.T) {
	f := func(s string, want uint64, ok bool) {
		t.Helper()
		got, gotOK := Uint([]byte(s))
		if got != want && ok || gotOK != ok {
			t.Fatalf("Uint(%q) = %d, %t", s, got, gotOK)
		}
	}
	f("0", 0, true)
	f("007", 7, true)
	f("18446744073709551615", 18446744073709551615, true)
	f("18446744073709551616", 0, false)
	f("99999999999999999999", 0, false)
	f("", 0, false)
	f("-1", 0, false)
	f("1 ", 0, false)
	f("0x1", 0, false)
}

func TestUints(t *testing.T) {
	f := func(line string, room int, want ...uint64) {
		t.Helper()
		got := make([]uint64, room)
		got = got[:Uints(got, []byte(line))]
		if !slices.Equal(got, want) {
			t.Fatalf("Uints(%q) = %v", line, got)
		}
	}
	f("1 2 3", 3, 1, 2, 3)
	f("1 2 3", 2, 1, 2)
	f("1 2", 3, 1, 2)
	f("1 x 3", 3, 1)
	f("", 3)
}

func TestDecimal(t *testing.T) {
	f := func(s string, want float64, ok bool) {
		t.Helper()
		got, gotOK := Decimal([]byte(s))
		if gotOK != ok || ok && got != want {
			t.Fatalf("Decimal(%q) = %v, %t", s, got, gotOK)
		}
	}
	f("0.05", 0.05, true)
	f("12", 12, true)
	f("317.25", 317.25, true)
	f("1.", 0, false)
	f(".5", 0, false)
	f("1.2.3", 0, false)
	f("-1.0", 0, false)
	f("nan", 0, false)
}

func TestSkip(t *testing.T) {
	if got := Skip([]byte(" 254  0 vda 1"), 2); string(got) != " vda 1" {
		t.Fatalf("%q", got)
	}
	if got := Skip([]byte("one"), 3); len(got) != 0 {
		t.Fatalf("%q", got)
	}
}

func TestPrintable(t *testing.T) {
	if got := Printable([]byte("a\x1b[31m\n\u202e日本")); got != "a?[31m??日本" {
		t.Fatalf("%q", got)
	}
}

func TestHex(t *testing.T) {
	f := func(word string, want uint64, wantOK bool) {
		t.Helper()
		if n, ok := Hex([]byte(word)); n != want || ok != wantOK {
			t.Fatalf("Hex(%q) = %d, %t", word, n, ok)
		}
	}
	f("0000001a", 26, true)
	f("FFFFFFFFFFFFFFFF", 1<<64-1, true)
	f("1FFFFFFFFFFFFFFFF", 0, false)
	f("", 0, false)
	f("1g", 0, false)
}
