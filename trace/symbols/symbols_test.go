package symbols

import (
	"bytes"
	"debug/elf"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// TestFrames_Go: the runtime's own answer is the truth, inlined functions included. The
// addresses are those of a stack through the library, and a sample of all code.
func TestFrames_Go(t *testing.T) {
	stack := callers()
	pcs := slices.Clone(stack)
	first := reflect.ValueOf(TestFrames_Go).Pointer()
	for at := first - 1<<20; at < first+1<<16; at += 997 {
		if f := runtime.FuncForPC(at); f != nil && f.Entry() != at { // no return address is
			pcs = append(pcs, at)
		}
	}
	table := NewTable()
	t.Cleanup(func() { _ = table.Close() })
	if err := table.See(os.Getpid()); err != nil {
		t.Fatal(err)
	}
	for _, pc := range pcs {
		if !table.Want(os.Getpid(), uint64(pc-1)) {
			t.Fatalf("%x is said to be no code", pc)
		}
	}
	table.Resolve(t.Context())
	if len(table.Failures()) > 0 {
		t.Fatal(table.Failures())
	}

	for _, pc := range pcs {
		want, _ := runtime.CallersFrames([]uintptr{pc}).Next() // the innermost alone
		got, _ := table.Frames(os.Getpid(), uint64(pc-1))
		if want.Function == "" {
			continue // between functions
		}
		if len(got) == 0 || got[0].Name != want.Function || want.File != "?" && filepath.Base(got[0].File) != filepath.Base(want.File) {
			t.Fatalf("%x: %+v, want %s %s", pc, got, want.Function, want.File)
		}
	}
	inlined := 0
	for i := range stack { // each frame is followed by those that it is inlined into
		got, _ := table.Frames(os.Getpid(), uint64(stack[i]-1))
		for k, f := range got {
			if want, _ := runtime.CallersFrames(stack[i+k : i+k+1]).Next(); f.Name != want.Function || f.Line == 0 {
				t.Fatalf("frame %d is %+v, want %s", i+k, f, want.Function)
			}
			inlined += min(k, 1)
		}
	}
	if inlined == 0 {
		t.Error("no inlined function was among them: nothing was shown of those")
	}
}

// callers returns a stack in which functions are inlined.
func callers() []uintptr { return inlinedCallers() }

func inlinedCallers() []uintptr {
	pcs := make([]uintptr, 32)
	return pcs[:runtime.Callers(1, pcs)]
}

// TestReadNames_Shared: addresses in a library get the names of its dynamic symbols, and those
// between them get none.
func TestReadNames_Shared(t *testing.T) {
	libs, err := filepath.Glob("/lib/*-linux-gnu/libc.so.6")
	if err != nil || len(libs) == 0 {
		t.Fatal("no C library to read", err)
	}
	raw, err := os.ReadFile(libs[0])
	if err != nil {
		t.Fatal(err)
	}
	truth, err := elf.NewFile(bytes.NewReader(raw))
	if err != nil {
		t.Fatal(err)
	}
	all, err := truth.DynamicSymbols()
	if err != nil {
		t.Fatal(err)
	}
	want := map[uint64]map[string]bool{}
	for _, s := range all {
		if elf.ST_TYPE(s.Info) != elf.STT_FUNC || s.Value == 0 || s.Size < 8 {
			continue
		}
		for _, p := range truth.Progs {
			if p.Type == elf.PT_LOAD && s.Value >= p.Vaddr && s.Value < p.Vaddr+p.Filesz {
				at := s.Value - p.Vaddr + p.Off + 4
				if want[at] == nil {
					want[at] = map[string]bool{}
				}
				want[at][s.Name] = true
			}
		}
	}
	got, _, id, err := readNames(bytes.NewReader(raw), int64(len(raw)), sortedKeys(want))
	if err != nil || len(want) < 1000 {
		t.Fatalf("%d functions, %v", len(want), err)
	}
	if id == "" {
		t.Error("no build id")
	}
	for at, names := range want {
		if len(got[at]) != 1 || !names[got[at][0].Name] && !strings.HasPrefix(got[at][0].Name, "_") && len(names) == 1 {
			t.Errorf("%x: %+v, want one of %v", at, got[at], names)
		}
	}
}

// TestReadNames_Stripped: Go's own table names functions of a program without symbols.
func TestReadNames_Stripped(t *testing.T) {
	if testing.Short() {
		t.Skip("builds a program")
	}
	for _, mode := range []string{"exe", "pie"} {
		file := build(t, mode)
		raw, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		m, err := readImage(bytes.NewReader(raw), int64(len(raw)))
		if err != nil {
			t.Fatal(err)
		}
		table, err := m.readGo()
		if err != nil {
			t.Fatal(err)
		}
		found := false
		for i := 0; i+2 < len(table.functions); i += 2 {
			frames := table.frames(table.text + uint64(table.functions[i]))
			if len(frames) > 0 && frames[len(frames)-1].Name == "main.main" {
				found = true
			}
		}
		if !found {
			t.Errorf("%s: no main.main among %d functions", mode, len(table.functions)/2)
		}
	}
}

func build(t *testing.T, mode string) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "main.go"), []byte("package main\n\nfunc main() { println(1) }\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "program")
	c := exec.Command("go", "build", "-trimpath", "-buildmode="+mode, "-ldflags=-s -w", "-o", file, filepath.Join(dir, "main.go"))
	c.Env = append(os.Environ(), "GO111MODULE=off", "GOFLAGS=")
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return file
}

func TestParseMaps(t *testing.T) {
	got := parseMaps([]byte(`55d4c8e00000-55d4c8e21000 r--p 00000000 fd:01 1835                       /usr/sbin/nginx
55d4c8e21000-55d4c8e93000 r-xp 00021000 fd:01 1835                       /usr/sbin/nginx (deleted)
7f0000000000-7f0000021000 rwxp 00000000 00:00 0
garbage
7ffd1a3f2000-7ffd1a3f4000 r-xp 00000000 00:00 0                          [vdso]
`))
	want := []mapping{
		{0x55d4c8e21000, 0x55d4c8e93000, 0x21000, "fd:01", 1835, "/usr/sbin/nginx (deleted)"},
		{0x7f0000000000, 0x7f0000021000, 0, "00:00", 0, ""}, {0x7ffd1a3f2000, 0x7ffd1a3f4000, 0, "00:00", 0, "[vdso]"},
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %+v", got)
	}
}

func TestReadPerfMap(t *testing.T) {
	got := readPerfMap(strings.NewReader("1000 10 old\nnonsense\n1000 20 py::handler:/srv/app.py\n2000 8 \x1b[31mred\n"),
		[]uint64{0x0fff, 0x1000, 0x101f, 0x1020, 0x2004})
	if len(got) != 3 || got[0x1000] != "py::handler:/srv/app.py" || got[0x101f] != got[0x1000] || got[0x2004] != "[31mred" {
		t.Errorf("got %v", got)
	}
}

func TestReadKernel(t *testing.T) {
	got, hidden := readKernel(strings.NewReader("ffffffff81000000 T _stext\nffffffff81000100 t do_one\nffffffff81000180 d data\n"+
		"ffffffffc0a01000 t nf_hook\t[nf_tables]\n"), []uint64{0x10, 0xffffffff81000104, 0xffffffff81000190, 0xffffffffc0a01008})
	if hidden || len(got) != 3 || got[0xffffffff81000104] != "do_one" || got[0xffffffff81000190] != "do_one" || got[0xffffffffc0a01008] != "nf_hook" {
		t.Errorf("got %v, hidden %v", got, hidden)
	}
	if _, hidden := readKernel(strings.NewReader("0000000000000000 T _stext\n"), []uint64{1}); !hidden {
		t.Error("a table of zeros is not said to be hidden")
	}
}

func TestDemangled(t *testing.T) {
	for in, want := range map[string]string{
		"_ZN4JOIN4execEv": "JOIN::exec", "main": "main", "read@GLIBC_2.2.5": "read",
		"_RNvCs1234_7mycrate3foo": "mycrate::foo",
	} {
		if got := demangled(in, true); got != want {
			t.Errorf("%s is %q, want %q", in, got, want)
		}
	}
}
