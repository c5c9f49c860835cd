package goversion

import (
	"debug/dwarf"
	"debug/elf"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"
)

func TestOf(t *testing.T) {
	f := func(version string, want Offsets, ok bool) {
		t.Helper()
		if got, known := Of(version); got != want || known != ok {
			t.Errorf("%s: %v, %v", version, got, known)
		}
	}
	f("go1.21", Offsets{152, 272, 296}, true)
	f("go1.23.12", Offsets{160, 280, 304}, true)
	f("go1.26.8", Offsets{152, 280, 304}, true)
	f("go1.26rc1", Offsets{152, 280, 304}, true)
	f("go1.26.1 X:nodwarf5", Offsets{152, 280, 304}, true)
	f("go1.20.14", Offsets{}, false)
	f("go1.99", Offsets{}, false)
	f("devel +abc", Offsets{}, false)
	f("", Offsets{}, false)
}

// TestTable: the offsets are those of the debugging information of a program, on both
// processors; with KASOKU_LONG=1 for each version that is known.
func TestTable(t *testing.T) {
	toolchains := []string{""}
	if os.Getenv("KASOKU_LONG") != "" {
		toolchains = append(toolchains, "go1.21.13", "go1.22.12", "go1.23.12", "go1.24.13", "go1.25.7", "go1.27.4")
	}
	dir := t.TempDir()
	for name, text := range map[string]string{"go.mod": "module m\n\ngo 1.21\n",
		"main.go": "package main\n\nfunc main() {}\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, toolchain := range toolchains {
		for _, arch := range []string{"amd64", "arm64"} {
			if toolchain == "" && arch != runtime.GOARCH {
				continue // its runtime would have to be compiled
			}
			build := exec.Command("go", "build", "-trimpath", "-o", "program", ".")
			build.Dir = dir
			build.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=", "GOARCH="+arch, "GOWORK=off")
			if toolchain != "" {
				build.Env = append(build.Env, "GOTOOLCHAIN="+toolchain)
			}
			if out, err := build.CombinedOutput(); err != nil {
				t.Fatalf("%s: %v\n%s", toolchain, err, out)
			}
			version := toolchain
			if version == "" {
				version = runtime.Version()
			}
			want, ok := Of(version)
			if got := inDebugging(t, filepath.Join(dir, "program")); !ok || got != want {
				t.Errorf("%s %s: %v, the table has %v", version, arch, got, want)
			}
		}
	}
}

// inDebugging returns the offsets that a program's debugging information has.
func inDebugging(t *testing.T, name string) (o Offsets) {
	t.Helper()
	f, err := elf.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	d, err := f.DWARF()
	if err != nil {
		t.Fatal(err)
	}
	for r := d.Reader(); ; {
		e, err := r.Next()
		if err != nil || e == nil {
			t.Fatalf("no runtime.g: %v", err)
		}
		if e.Tag != dwarf.TagStructType || e.Val(dwarf.AttrName) != "runtime.g" {
			continue
		}
		g, err := d.Type(e.Offset)
		if err != nil {
			t.Fatal(err)
		}
		for _, field := range g.(*dwarf.StructType).Field {
			if to := map[string]*int{"goid": &o.Goid, "parentGoid": &o.Parent,
				"startpc": &o.Start}[field.Name]; to != nil {
				*to = int(field.ByteOffset)
			}
		}
		return o
	}
}

func TestOfProcess(t *testing.T) {
	version, o, err := OfProcess(t.Context(), os.Getpid())
	if want, _ := Of(runtime.Version()); err != nil || version != runtime.Version() || o != want {
		t.Errorf("%s, %v, %v", version, o, err)
	}
	if _, _, err := OfProcess(t.Context(), 1<<30); err == nil {
		t.Error("no error for a process that is not there")
	}
}
