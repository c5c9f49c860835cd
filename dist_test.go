package kasoku_test

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"debug/elf"
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kasoku/kasoku/internal/test/agenttest"
	"github.com/kasoku/kasoku/internal/test/turn"
)

// TestGoReleaser: its configuration builds each program.
func TestGoReleaser(t *testing.T) {
	config := string(readFile(t, ".goreleaser.yaml"))
	programs := programs(t)
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

// version is what the archives of TestDist say they are.
const version = "9.8.7"

// TestDist makes the archive of a release for this architecture, for both with
// KASOKU_LONG=1, or takes those in $KASOKU_DIST (make dist), and looks at them: that the
// agent's installer finds what it looks for, and that it runs where it says.
func TestDist(t *testing.T) {
	dir, want, arches := os.Getenv("KASOKU_DIST"), "", []string{"amd64", "arm64"}
	if dir == "" && testing.Short() {
		t.Skip("-short: links all programs")
	}
	if dir == "" {
		turn.Wait(t)
		if os.Getenv("KASOKU_LONG") == "" {
			arches = []string{runtime.GOARCH}
		}
		dir, want = filepath.Join(t.TempDir(), "dist"), version
		build := exec.CommandContext(t.Context(), "tools/dist", dir)
		build.Env = append(os.Environ(), "VERSION=v"+version, "ARCHES="+strings.Join(arches, " "), "LEVEL=1")
		if out, err := build.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
	}
	names := []string{"LICENSE", "NOTICE", "README.ja.md", "README.md"}
	for _, p := range programs(t) {
		names = append(names, filepath.Base(filepath.Dir(p)))
	}
	slices.Sort(names)
	var sums bytes.Buffer
	for _, arch := range arches {
		name := "kasoku_linux_" + arch + ".zip"
		content := readFile(t, filepath.Join(dir, name))
		fmt.Fprintf(&sums, "%x  %s\n", sha256.Sum256(content), name)
		archive, err := zip.NewReader(bytes.NewReader(content), int64(len(content)))
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, f := range archive.File {
			got = append(got, f.Name)
			if path := checkFile(t, arch, f); path != "" {
				runProgram(t, arch, path, want)
			}
		}
		if !slices.Equal(got, names) {
			t.Errorf("%s holds %q, want %q", arch, got, names)
		}
	}
	if got := readFile(t, filepath.Join(dir, "SHA256SUMS")); !bytes.Equal(got, sums.Bytes()) {
		t.Errorf("SHA256SUMS is\n%swant\n%s", got, &sums)
	}
	checkPackage(t, dir)
}

// TestNotice: the licence of each linked module, of the chart script and of Go stands
// in NOTICE, and a module without one ends the making of archives.
func TestNotice(t *testing.T) {
	turn.Wait(t)
	t.Parallel()
	out, err := exec.CommandContext(t.Context(), "tools/notice").Output()
	if err != nil {
		t.Fatal(err)
	}
	list := exec.CommandContext(t.Context(), "go", "list", "-deps", "-f", "{{with .Module}}{{if not .Main}}{{.Path}} {{.Version}}{{end}}{{end}}", "./cmd/...")
	list.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS=linux")
	modules, err := list.Output()
	if err != nil {
		t.Fatal(err)
	}
	want := append(strings.Split(strings.TrimSpace(string(modules)), "\n"), "The Go standard library and runtime, "+runtime.Version(), "internal/uplot, in this repository")
	for _, title := range want {
		if title == "" {
			continue
		}
		_, text, ok := strings.Cut(string(out), "\n"+title+"\n====")
		if !ok || !strings.Contains(text[:min(len(text), 3000)], "--- ") {
			t.Errorf("no licence of %s", title)
		}
	}
	fake := filepath.Join(t.TempDir(), "go")
	script := fmt.Sprintf("#!/bin/sh\ncase $1 in env) go env \"$2\";; list) echo example.com/bare v1.0.0 %[1]s %[1]s;; esac\n", filepath.Dir(fake))
	if err := os.WriteFile(fake, []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	bare := exec.CommandContext(t.Context(), "tools/notice")
	bare.Env = append(os.Environ(), "GO="+fake)
	if out, err := bare.CombinedOutput(); err == nil || !strings.Contains(string(out), "example.com/bare v1.0.0 has no licence file") {
		t.Errorf("%v, %.200s", err, out)
	}
}

// programs are the main files of all programs.
func programs(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob("cmd/*/main.go")
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// checkFile looks at one file of an archive: its bits, its architecture, that it
// needs no loader. It returns where it has put a program.
func checkFile(t *testing.T, arch string, f *zip.File) (path string) {
	t.Helper()
	isProgram := f.Name == "kasoku" || f.Name == "kasoku-hub" || strings.HasPrefix(f.Name, "mackerel-plugin-") || strings.HasPrefix(f.Name, "check-")
	mode := os.FileMode(0o644)
	if isProgram {
		mode = 0o755
	}
	if f.Mode() != mode {
		t.Errorf("%s: %s has the mode %v, want %v", arch, f.Name, f.Mode(), mode)
	}
	if !isProgram {
		return ""
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
	if want := map[string]elf.Machine{"amd64": elf.EM_X86_64, "arm64": elf.EM_AARCH64}[arch]; program.Machine != want {
		t.Errorf("%s: %s is for %v", arch, f.Name, program.Machine)
	}
	for _, p := range program.Progs {
		if p.Type == elf.PT_INTERP {
			t.Errorf("%s: %s is not static", arch, f.Name)
		}
	}
	path = filepath.Join(t.TempDir(), f.Name)
	if err := os.WriteFile(path, content, 0o700); err != nil {
		t.Fatal(err)
	}
	return path
}

// runProgram runs a program of an architecture where this machine can: its own, and
// arm64 where QEMU's program for it is.
func runProgram(t *testing.T, arch, path, version string) {
	t.Helper()
	argv := []string{path}
	if arch != runtime.GOARCH {
		qemu, err := exec.LookPath(map[string]string{"arm64": "qemu-aarch64-static", "amd64": "qemu-x86_64-static"}[arch])
		if err != nil {
			t.Logf("%s is not run: %v", filepath.Base(path), err)
			return
		}
		argv = []string{qemu, path}
	}
	name, agent := filepath.Base(path), agenttest.New(t)
	if name == "kasoku-hub" { // kasoku starts it, and says what it is to be
		out, err := exec.CommandContext(t.Context(), argv[0], argv[1:]...).CombinedOutput()
		if err == nil || !strings.Contains(string(out), "second program of kasoku") {
			t.Errorf("%s: %s: %v, %s", arch, name, err, out)
		}
		return
	}
	ask, begin := "--version", name+"-"+version
	if name == "kasoku" {
		ask, begin = "version", "kasoku "+version
	}
	out, err := exec.CommandContext(t.Context(), argv[0], append(argv[1:], ask)...).CombinedOutput()
	if err != nil || !strings.HasPrefix(string(out), begin) || !strings.Contains(string(out), "linux/"+arch) {
		t.Errorf("%s: %s %s: %v, %s", arch, name, ask, err, out)
	}
	switch name {
	case "mackerel-plugin-command-status":
		argv = append(argv, "-n", "x", "--", "true")
	case "mackerel-plugin-linux-process-status":
		argv = append(argv, "-p", fmt.Sprint(os.Getpid()), "--key-prefix", "x")
	case "mackerel-plugin-maxcpu":
		argv = append(argv, "-s", filepath.Join(agent.WorkDir, "none"))
	case "mackerel-plugin-mysql", "mackerel-plugin-mysql-lite":
	case "check-lastlog":
		users, log := lastLogins(t, arch)
		if status, message, _ := agent.Check(t, append(argv, "--passwd-file", users, "--lastlog-file", log)...); status != agenttest.Critical || !strings.HasSuffix(message, " alice(129 days)") {
			t.Errorf("%s: check-lastlog: %s %q", arch, status, message)
		}
		return
	default:
		return
	}
	if defs, _ := agent.Definitions(t, argv...); len(defs) == 0 {
		t.Errorf("%s: %s: no graphs", arch, name)
	}
}

// lastLogins writes a user who logged in 129 days ago, and the log of logins as an
// architecture has it: of a length that records of either size fill.
func lastLogins(t *testing.T, arch string) (users, log string) {
	t.Helper()
	size := map[string]int{"amd64": 292, "arm64": 296}[arch]
	records := make([]byte, 292*296*4)
	binary.LittleEndian.PutUint32(records[1000*size:], uint32(time.Now().AddDate(0, 0, -129).Unix()))
	dir := t.TempDir()
	users, log = filepath.Join(dir, "passwd"), filepath.Join(dir, "lastlog")
	for path, content := range map[string][]byte{users: []byte("alice:x:1000:1000::/:/bin/sh\n"), log: records} {
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return users, log
}

func readFile(t *testing.T, path string) []byte {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return content
}
