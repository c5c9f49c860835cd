package lines

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"
)

// next checks what one call of Next gives.
func next(t *testing.T, tail *Tail, want ...string) {
	t.Helper()
	var got []string
	n, err := tail.Next(func(line []byte) { got = append(got, string(line)) })
	if err != nil {
		t.Fatal(err)
	}
	if n != len(got) || fmt.Sprintf("%.300q", got) != fmt.Sprintf("%.300q", want) || len(got) != len(want) {
		t.Errorf("got %d %.300q, want %.300q", n, got, want)
	}
}

func newTail(t *testing.T, path string) *Tail {
	t.Helper()
	tail, err := NewTail(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { tail.Close() })
	return tail
}

func TestTail(t *testing.T) {
	l := newLog(t, "old\nhalf")
	tail := newTail(t, l.path)
	next(t, tail)
	l.write(" a line\r\nb\n")
	next(t, tail, "half a line", "b")
	next(t, tail)
	l.write("\n\x00\nc")
	next(t, tail, "", "\x00")
	l.write("d")
	next(t, tail)
	l.write("e\n")
	next(t, tail, "cde")

	from, err := TailFrom(Mark{Path: l.path, Missing: true})
	l.must(err)
	defer from.Close()
	next(t, from, "old", "half a line", "b", "", "\x00", "cde")
	if from.Note() != "" {
		t.Errorf("note %q", from.Note())
	}
}

func TestTail_Missing(t *testing.T) {
	l := newLog(t, "")
	l.must(os.Remove(l.path))
	tail := newTail(t, l.path)
	next(t, tail)
	l.write("a\n")
	next(t, tail, "a")
	l.must(os.Remove(l.path))
	next(t, tail)
	l.write("b\n")
	next(t, tail, "b")
	if _, err := NewTail(t.TempDir()); err == nil {
		t.Error("a directory is followed")
	}
}

// TestTail_WrittenAfterRename: a server writes to the renamed file until it is
// asked to open its log anew.
func TestTail_WrittenAfterRename(t *testing.T) {
	synctest.Test(t, testWrittenAfterRename)
}

func testWrittenAfterRename(t *testing.T) {
	l := newLog(t, "")
	tail := newTail(t, l.path)
	old, err := os.OpenFile(l.path, os.O_APPEND|os.O_WRONLY, 0)
	l.must(err)
	defer old.Close()
	old.WriteString("a\n")
	l.rotate(".1", noon)
	old.WriteString("b\n")
	next(t, tail, "a", "b")
	l.write("")
	old.WriteString("c\nhalf")
	next(t, tail, "c")
	l.write("e\n")
	next(t, tail, "e")
	old.WriteString(" d\nlast")
	next(t, tail, "half d")
	for range 99 { // however often it is asked
		time.Sleep(patience / 100)
		next(t, tail)
	}
	time.Sleep(patience / 100)
	next(t, tail, "last")
	old.WriteString("too late\n")
	l.write("f\n")
	next(t, tail, "f")
	if len(tail.files) != 1 {
		t.Errorf("%d files are open", len(tail.files))
	}
}

// TestTail_SeldomAsked: who asks once a minute still hears what a server writes to the
// renamed file.
func TestTail_SeldomAsked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLog(t, "")
		tail := newTail(t, l.path)
		l.write("a\n")
		next(t, tail, "a")
		old, err := os.OpenFile(l.path, os.O_APPEND|os.O_WRONLY, 0)
		l.must(err)
		defer old.Close()
		time.Sleep(time.Minute)
		l.rotate(".1", noon)
		l.write("")
		next(t, tail)
		old.WriteString("b\n")
		next(t, tail, "b")
	})
}

// TestTail_RotatedIdle: what an earlier rotation left is not read again, though it was
// written after the log that was empty until the next one.
func TestTail_RotatedIdle(t *testing.T) {
	l := newLog(t, "")
	tail := newTail(t, l.path)
	l.write("a\n")
	next(t, tail, "a")
	l.rotate(".1", time.Now().Add(-time.Hour+time.Second)) // an old worker wrote to it last
	l.write("")
	l.must(os.Chtimes(l.path, time.Now(), time.Now().Add(-time.Hour)))
	next(t, tail)
	tail.files[0].quiet = time.Now().Add(-patience) // an hour passed
	next(t, tail)
	if len(tail.files) != 1 {
		t.Fatalf("%d files are open", len(tail.files))
	}
	l.must(os.Rename(l.path+".1", l.path+".2"))
	l.must(os.Rename(l.path, l.path+".1"))
	l.write("b\n")
	next(t, tail, "b")
}

func TestTail_RotatedTwice(t *testing.T) {
	l := newLog(t, "")
	tail := newTail(t, l.path)
	l.write("a\n")
	l.rotate(".2", noon)
	l.write("b\n")
	l.rotate(".1", noon.Add(1))
	l.write("c\n")
	next(t, tail, "a", "b", "c")
	for i := range 3 * maxTailed {
		l.rotate(fmt.Sprintf(".%d", 100+i), noon.Add(time.Duration(2+i)))
		l.write(fmt.Sprintln(i))
		next(t, tail, fmt.Sprint(i))
		if len(tail.files) > maxTailed {
			t.Fatalf("%d files are open", len(tail.files))
		}
	}
}

func TestTail_Truncated(t *testing.T) {
	l := newLog(t, "an old line that is long enough\n")
	tail := newTail(t, l.path)
	l.write("half a line")
	next(t, tail)
	l.must(os.Truncate(l.path, 0))
	l.write("a\n")
	next(t, tail, "half a line", "a")
	if !strings.Contains(tail.Note(), "was truncated") {
		t.Errorf("note %q", tail.Note())
	}
	l.must(os.Truncate(l.path, 0))
	l.write("longer than before\n")
	next(t, tail, "longer than before")
	next(t, tail)
	if tail.Note() != "" {
		t.Errorf("note %q", tail.Note())
	}
}

func TestTail_LongLine(t *testing.T) {
	l := newLog(t, "")
	tail := newTail(t, l.path)
	fits := strings.Repeat("x", DefaultMaxLine)
	l.write(fits)
	next(t, tail)
	l.write("\r\n" + fits + "y\nb\n")
	next(t, tail, fits, fits, "b")
	for range 5 {
		l.write(fits)
	}
	next(t, tail, fits)
	l.write(fits)
	next(t, tail)
	l.write("rest\nc\n")
	next(t, tail, "c")
	if n := cap(tail.files[0].part); n > 3<<20 {
		t.Errorf("%d bytes are kept", n)
	}
}

// TestTail_Anything writes, rotates and asks at random: each line comes once, in
// order.
func TestTail_Anything(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		dir, err := os.MkdirTemp(t.TempDir(), "")
		if err != nil {
			rt.Fatal(err)
		}
		l := &logFile{t, dir + "/app.log"}
		l.write(rapid.SampledFrom([]string{"", "old\n", "old"}).Draw(rt, "old"))
		tail, err := NewTail(l.path)
		if err != nil {
			rt.Fatal(err)
		}
		defer tail.Close()
		var want, got strings.Builder
		if b, _ := os.ReadFile(l.path); len(b) == 3 {
			want.Write(b)
		}
		clock := time.Now() // tails ask when a file was written
		ask := func() {
			if _, err := tail.Next(func(line []byte) { got.Write(line); got.WriteByte('\n') }); err != nil {
				rt.Fatal(err)
			}
		}
		for range rapid.IntRange(0, 30).Draw(rt, "steps") {
			switch rapid.IntRange(0, 5).Draw(rt, "step") {
			case 0:
				l.write("end\n")
				want.WriteString("end\n")
				clock = clock.Add(1e9)
				l.rotate("."+clock.Format("20060102-150405"), clock)
				l.write("")
			case 1, 2:
				ask()
			default:
				s := rapid.StringMatching(`([a-z]{0,70}\n?){0,3}`).Draw(rt, "text")
				l.write(s)
				want.WriteString(s)
			}
		}
		l.write("\n")
		want.WriteString("\n")
		ask()
		if got.String() != want.String() {
			rt.Fatalf("got %q, want %q", got.String(), want.String())
		}
	})
}

// TestTail_NextWithin: what a log gained beyond the bound is skipped, up to the next
// line that begins after it.
func TestTail_NextWithin(t *testing.T) {
	l := newLog(t, "old\n")
	tail := newTail(t, l.path)
	f := func(most, skipped int64, want ...string) {
		t.Helper()
		var got []string
		_, n, err := tail.NextWithin(most, func(line []byte) { got = append(got, string(line)) })
		l.must(err)
		if fmt.Sprintf("%q", got) != fmt.Sprintf("%q", want) || n != skipped {
			t.Errorf("got %q and %d bytes skipped, want %q and %d", got, n, want, skipped)
		}
	}
	l.write("one\ntwo\nthree\n")
	f(14, 0, "one", "two", "three")
	l.write("one\ntwo\nthree\n")
	f(9, 5, "one", "two") // the t of three was read
	l.write("four\n")
	f(100, 0, "four")
	l.write("five\nsix")
	f(2, 6)
	l.write("ty\nseven\n") // the end of a line that was skipped
	f(100, 0, "seven")
	l.write("eight\n")
	f(0, 6)
	l.rotate(".1", time.Now())
	l.write("nine\nten\n")
	f(5, 4, "nine")
	l.write("eleven\n")
	f(100, 0, "eleven")
}
