package procstat

import (
	"os"
	"os/exec"
	"testing"
	"time"
)

func TestParse_Success(t *testing.T) {
	f := func(line, wantName string, want Stat) {
		t.Helper()
		name, st, err := Parse([]byte(line))
		if err != nil || string(name) != wantName || st != want {
			t.Fatalf("Parse(%q) = %q, %+v, %v", line, name, st, err)
		}
	}
	f("1204 (userapi) S 1 1012 8398 0 -1 4194560 509 0 0 0 15 1 0 0 20 0 5 0 188446 1598693376 1770 18446744073709551615\n",
		"userapi", Stat{State: 'S', Group: 1012, Parent: 1, Flags: 4194560, User: 15, System: 1, Threads: 5, Start: 188446,
			Size: 1598693376, RSS: 1770})
	f("7 (a) (b)) R 1 1 1 0 -1 0 0 0 0 0 1 2 -3 -4 20 0 1 0 9 0 0", "a) (b)", Stat{State: 'R', Group: 1, Parent: 1, User: 1, System: 2, Threads: 1, Start: 9})
	f("7 (x) X 0 -1 -1 0 -1 4 0 0 0 0 1 2 0 0 20 0 1 0 9 0 0", "x", Stat{State: 'X', Group: -1, Flags: 4, User: 1, System: 2, Threads: 1, Start: 9})
	rest := " 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 4711 1 2"
	want := Stat{State: 'Z', Group: 8, Parent: 7, Flags: 4194560, Faults: 3, User: 5, System: 6, ChildUser: 7, ChildSystem: 8,
		Threads: 1, Start: 4711, Size: 1, RSS: 2}
	f("12 (a) b) R 2) Z 7 8 9"+rest, "a) b) R 2", want)
	want.State = 'S'
	f("12 (a) b (c)) S 7 8 9"+rest, "a) b (c)", want)
	f("7 () R 1 1 1 0 -1 0 0 0 0 0 1 2 0 0 20 0 1 0 9 0 0", "", Stat{State: 'R', Group: 1, Parent: 1, User: 1, System: 2, Threads: 1, Start: 9})
}

func TestParse_Failure(t *testing.T) {
	f := func(line string) {
		t.Helper()
		if name, st, err := Parse([]byte(line)); err == nil || name != nil || st != (Stat{}) {
			t.Fatalf("Parse(%q) = %q, %+v, %v", line, name, st, err)
		}
	}
	f("")
	f("1204 userapi S 1")
	f(") (")
	f("1204 (userapi) SS 1")
	f("1204 (userapi)")
	f("12 (sh) S 7 9")
	f("12 (sh) S x 8 9 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 4711 1 2")
	f("1204 (userapi) S 1 1012 8398 0 -1 4194560 509 0 0 0 15 1 0 0 20 0 5 0 188446")
	f("1204 (userapi) S 1 1012 8398 0 -1 4194560 509 0 0 0 x 1 0 0 20 0 5 0 188446 1 1")
}

func TestField(t *testing.T) {
	const line = "7 (a) 3 (b)) S 4 5 6\n"
	f := func(number int, want string) {
		t.Helper()
		word, ok := Field([]byte(line), number)
		if string(word) != want || ok != (want != "") {
			t.Errorf("field %d is %q, %v; want %q", number, word, ok, want)
		}
	}
	f(3, "S")
	f(4, "4")
	f(6, "6")
	f(7, "")
	f(60, "")
}

// TestRead: the kernel's line of this process, and of a child that has ended.
func TestRead(t *testing.T) {
	st, err := Read(os.Getpid())
	if err != nil || st.Parent != uint64(os.Getppid()) || st.Zombie() || st.Kernel() || st.Threads < 2 || st.RSS == 0 || st.Start == 0 {
		t.Errorf("%+v, %v", st, err)
	}
	c := exec.Command("true")
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(10 * time.Second); ; {
		if st, err = Read(c.Process.Pid); err != nil || st.Zombie() || time.Now().After(end) {
			break
		}
	}
	if err != nil || !st.Dead() || st.Parent != uint64(os.Getpid()) {
		t.Errorf("a zombie: %+v, %v", st, err)
	}
	if err := c.Wait(); err != nil {
		t.Fatal(err)
	}
	if _, err := Read(c.Process.Pid); !os.IsNotExist(err) {
		t.Errorf("one that is gone: %v", err)
	}
}

func TestParseAllocatesNothing(t *testing.T) {
	line, err := os.ReadFile("/proc/self/stat")
	if err != nil {
		t.Fatal(err)
	}
	if n := testing.AllocsPerRun(100, func() {
		if _, _, err := Parse(line); err != nil {
			t.Fatal(err)
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// FuzzParse: an error leaves nothing, and a name is a part of the line.
func FuzzParse(f *testing.F) {
	f.Add([]byte("1204 (userapi) S 1 1204 1204 0 -1 4194560 1 0 0 0 5 3 0 0 20 0 7 0 123456 1 2 3"))
	f.Add([]byte("1 (a) b) c) S 1"))
	f.Add([]byte(") ("))
	f.Fuzz(func(t *testing.T, line []byte) {
		name, st, err := Parse(line)
		if err != nil && (name != nil || st != (Stat{})) || len(name) > len(line) {
			t.Fatalf("%q, %+v with %v", name, st, err)
		}
		if err != nil {
			return
		}
		if word, ok := Field(line, 22); !ok || len(word) == 0 {
			t.Fatalf("field 22 of %q: %q", line, word)
		}
	})
}
