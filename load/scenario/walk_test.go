package scenario_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/kasoku/kasoku/internal/test/turn"
	"github.com/kasoku/kasoku/load/scenario"
)

// TestWalk builds what docs/scenario.md asks its reader to write, in a module of its
// own, and runs it: against the service of that page, and against one that is broken
// as the page says.
func TestWalk(t *testing.T) {
	turn.Wait(t)
	if testing.Short() {
		t.Skip("compiles a module and runs it; not with -short")
	}
	page := filepath.Join("..", "..", "docs", "scenario.md")
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	dir := module(t, blocks(t, string(text)))
	build(t, dir, "bench")
	build(t, dir, "shop")

	r, output := bench(t, dir, serve(t, dir), 0)
	if !r.Pass || r.Reason != "OK" || r.Language != "go" || r.Level < 1 || r.Seed != 7 || len(r.Messages) != 0 {
		t.Errorf("the shop does not pass: %s", output)
	}
	if r.Score < 50 || r.Score != r.Points || len(r.Breakdown) != 1 || r.Breakdown[0].Tag != "buy" {
		t.Errorf("score: %s", output)
	}
	if !strings.HasPrefix(output, fmt.Sprintf(`{"pass":true,"score":%d,"messages":[],"reason":"OK","language":"go",`, r.Score)) {
		t.Errorf("not what a contest's tools read: %s", output)
	}
	var names []string
	for _, s := range r.Steps {
		names = append(names, string(s.Phase)+" "+s.Step)
	}
	want := "prepare GET /stock, prepare POST /buy, prepare POST /initialize, load GET /stock, load POST /buy, validate GET /stock"
	if got := strings.Join(names, ", "); got != want {
		t.Errorf("steps %s", got)
	}
	if r.Generator.CPUSeconds <= 0 || r.Generator.Available <= 0 {
		t.Errorf("generator %+v", r.Generator)
	}

	source := filepath.Join(dir, "shop", "main.go")
	b, err := os.ReadFile(source)
	if err != nil {
		t.Fatal(err)
	}
	before, after := "apples.Add(-1)", "apples.Load()"
	if !strings.Contains(string(text), "`"+before+"` → `"+after+"`") || !bytes.Contains(b, []byte(before)) {
		t.Fatal("the page breaks the shop in another way")
	}
	if err := os.WriteFile(source, bytes.ReplaceAll(b, []byte(before), []byte(after)), 0o600); err != nil {
		t.Fatal(err)
	}
	build(t, dir, "shop")
	r, output = bench(t, dir, serve(t, dir), 1)
	if r.Pass || len(r.Messages) == 0 || r.Messages[0].Text != "GET /stock: an apple that was sold is still there" {
		t.Errorf("the broken shop: %s", output)
	}
}

// blocks returns the files of a page: its blocks of Go, each of which begins with the
// file's name.
func blocks(t *testing.T, page string) map[string]string {
	t.Helper()
	files := map[string]string{}
	rest := page
	for {
		_, after, found := strings.Cut(rest, "\n```go\n")
		if !found {
			break
		}
		code, next, closed := strings.Cut(after, "\n```\n")
		name, _, _ := strings.Cut(strings.TrimPrefix(code, "// "), "\n")
		if !closed || !strings.HasSuffix(name, ".go") || files[name] != "" {
			t.Fatalf("a block of Go without a file's name of its own: %.60q", code)
		}
		files[name], rest = code+"\n", next
	}
	if len(files) != 4 {
		t.Fatalf("the page has %d files of Go", len(files))
	}
	return files
}

// module writes a module that takes kasoku from this tree.
func module(t *testing.T, files map[string]string) string {
	t.Helper()
	tree, err := filepath.Abs(filepath.Join("..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	sums, err := os.ReadFile(filepath.Join(tree, "go.sum"))
	if err != nil {
		t.Fatal(err)
	}
	files["go.sum"] = string(sums)
	files["go.mod"] = fmt.Sprintf("module example.com/shopbench\n\ngo 1.26\n\nrequire github.com/kasoku/kasoku v0.0.0\n\nreplace github.com/kasoku/kasoku => %q\n", tree)
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// build compiles a program with the flags of the tests, so that the cache has what they share.
func build(t *testing.T, dir, name string) {
	t.Helper()
	for _, args := range [][]string{{"vet"}, {"build", "-o", name + ".bin"}} {
		cmd := exec.Command("go", append(args, "./"+name)...)
		cmd.Dir, cmd.Env = dir, append(os.Environ(), "GOFLAGS="+os.Getenv("GOFLAGS")+" -mod=mod", "GOWORK=off")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("go %s ./%s: %v\n%s", args[0], name, err, out)
		}
	}
}

// serve starts the shop on a free port and returns its URL.
func serve(t *testing.T, dir string) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr := l.Addr().String()
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(filepath.Join(dir, "shop.bin"), addr)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait() // killed
	})
	for end := time.Now().Add(10 * time.Second); ; {
		conn, err := net.DialTimeout("tcp", addr, time.Second)
		if err == nil {
			_ = conn.Close()
			return "http://" + addr
		}
		if time.Now().After(end) {
			t.Fatal(err)
		}
	}
}

// bench runs the benchmark and returns what it prints.
func bench(t *testing.T, dir, url string, wantExit int) (scenario.Result, string) {
	t.Helper()
	cmd := exec.Command(filepath.Join(dir, "bench.bin"), "-target", url, "-duration", "3s", "-seed", "7")
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) || cmd.ProcessState.ExitCode() != wantExit {
		t.Fatalf("%v, want exit code %d\n%s%s", err, wantExit, stdout.String(), stderr.String())
	}
	var r scenario.Result
	if err := json.Unmarshal(stdout.Bytes(), &r); err != nil {
		t.Fatalf("%v\n%s", err, stdout.String())
	}
	if !strings.Contains(stderr.String(), "prepare ") {
		t.Errorf("no progress: %s", stderr.String())
	}
	t.Logf("%s%s", stderr.String(), stdout.String())
	return r, stdout.String()
}
