package kasoku_test

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"debug/elf"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// TestGoReleaser: its configuration builds each program.
func TestGoReleaser(t *testing.T) {
	config := string(readFile(t, ".goreleaser.yaml"))
	programs, err := filepath.Glob("cmd/*/main.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range programs {
		name := filepath.Base(filepath.Dir(p))
		if !strings.Contains(config, fmt.Sprintf("    id: %s\n    main: ./cmd/%[1]s\n    binary: %[1]s\n", name)) {
			t.Errorf(".goreleaser.yaml does not build %s", name)
		}
	}
	if n := strings.Count(config, "    main: "); n != len(programs) {
		t.Errorf(".goreleaser.yaml builds %d programs, there are %d", n, len(programs))
	}
}

// TestDist looks at the archives that tools/dist has made in $KASOKU_DIST: that the
// agent's installer finds what it looks for, and that it runs where it says.
func TestDist(t *testing.T) {
	dir := os.Getenv("KASOKU_DIST")
	if dir == "" {
		t.Skip("no archives to look at: make dist")
	}
	programs, err := filepath.Glob("cmd/*/main.go")
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"LICENSE", "README.ja.md", "README.md"}
	for _, p := range programs {
		want = append(want, filepath.Base(filepath.Dir(p)))
	}
	slices.Sort(want)
	var sums bytes.Buffer
	for arch, machine := range map[string]elf.Machine{"amd64": elf.EM_X86_64, "arm64": elf.EM_AARCH64} {
		content := readFile(t, filepath.Join(dir, "kasoku_linux_"+arch+".zip"))
		archive, err := zip.NewReader(bytes.NewReader(content), int64(len(content)))
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, f := range archive.File {
			names = append(names, f.Name)
			checkFile(t, arch, machine, f)
		}
		if !slices.Equal(names, want) {
			t.Errorf("%s holds %q, want %q", arch, names, want)
		}
	}
	for _, arch := range []string{"amd64", "arm64"} {
		name := "kasoku_linux_" + arch + ".zip"
		fmt.Fprintf(&sums, "%x  %s\n", sha256.Sum256(readFile(t, filepath.Join(dir, name))), name)
	}
	if got := readFile(t, filepath.Join(dir, "SHA256SUMS")); !bytes.Equal(got, sums.Bytes()) {
		t.Errorf("SHA256SUMS is\n%swant\n%s", got, &sums)
	}
}

// checkFile looks at one file of an archive: its bits, its architecture, that it
// needs no loader, and that it starts where this machine can start it.
func checkFile(t *testing.T, arch string, machine elf.Machine, f *zip.File) {
	t.Helper()
	isProgram := f.Name == "kasoku" || strings.HasPrefix(f.Name, "mackerel-plugin-") || strings.HasPrefix(f.Name, "check-")
	mode := os.FileMode(0o644)
	if isProgram {
		mode = 0o755
	}
	if f.Mode() != mode {
		t.Errorf("%s: %s has the mode %v, want %v", arch, f.Name, f.Mode(), mode)
	}
	if !isProgram {
		return
	}
	r, err := f.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	content, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	program, err := elf.NewFile(bytes.NewReader(content))
	if err != nil {
		t.Fatalf("%s: %s: %v", arch, f.Name, err)
	}
	if program.Machine != machine {
		t.Errorf("%s: %s is for %v", arch, f.Name, program.Machine)
	}
	for _, p := range program.Progs {
		if p.Type == elf.PT_INTERP {
			t.Errorf("%s: %s is not static", arch, f.Name)
		}
	}
	if arch != runtime.GOARCH {
		return
	}
	path := filepath.Join(t.TempDir(), f.Name)
	if err := os.WriteFile(path, content, 0o700); err != nil {
		t.Fatal(err)
	}
	out, err := exec.CommandContext(t.Context(), path, "--version").CombinedOutput()
	if f.Name != "kasoku" && (err != nil || !strings.HasPrefix(string(out), f.Name+"-")) {
		t.Errorf("%s --version: %v, %s", f.Name, err, out)
	}
}

func readFile(t *testing.T, path string) []byte {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return content
}
