package program_test

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/kasoku/kasoku/wire/mackerel/program"
)

type options struct {
	Name  string `short:"n" long:"name" required:"true" description:"Name"`
	Quiet bool   `short:"q" long:"quiet" description:"Say nothing"`
}

func TestParse(t *testing.T) {
	for _, tt := range []struct {
		args      string
		keep      bool
		rest      []string
		code      int
		done      bool
		out, errs string // expressions
	}{
		{args: "-n a b", rest: []string{"b"}},
		{args: "-n a -- b -q", rest: []string{"b", "-q"}},
		{args: "-n a b -x", keep: true, rest: []string{"b", "-x"}},
		{args: "-v", done: true, out: `^check-x-\S+\n\w+/\w+, go\S+.*, \w+\n$`},
		{args: "--version -n a", done: true, out: `^check-x-\S+\n`},
		{args: "-h", done: true, out: `(?s)^Usage:\n  check-x \[OPTIONS\].*--name=.*--quiet.*--version.*--help`},
		{args: "", code: 3, done: true, errs: "^check-x: the required flag `-n, --name' was not specified\ncheck-x: hint: check-x --help\n$"},
		{args: "-n a --zzz", code: 3, done: true, errs: "unknown flag `zzz'"},
		{args: "-n -s3cret", code: 3, done: true, errs: "^check-x: expected argument for flag `-n, --name': one that begins with - goes after a =\ncheck-x: hint: check-x --help\n$"},
		{args: "--name=-s3cret b", rest: []string{"b"}},
	} {
		var o options
		var out, errs bytes.Buffer
		f := program.Flags{Name: "check-x", Mistake: 3, Keep: tt.keep, Stdout: &out, Stderr: &errs}
		rest, code, done := f.Parse(&o, strings.Fields(tt.args))
		if code != tt.code || done != tt.done || !slices.Equal(rest, tt.rest) {
			t.Errorf("%q: %q, exit %d, done %v, want %q, %d, %v", tt.args, rest, code, done, tt.rest, tt.code, tt.done)
		}
		if !regexp.MustCompile(tt.out).Match(out.Bytes()) || tt.out == "" && out.Len() > 0 {
			t.Errorf("%q: stdout %q, want %s", tt.args, &out, tt.out)
		}
		if !regexp.MustCompile(tt.errs).Match(errs.Bytes()) || tt.errs == "" && errs.Len() > 0 {
			t.Errorf("%q: stderr %q, want %s", tt.args, &errs, tt.errs)
		}
	}
}

func TestWorkDir(t *testing.T) {
	env := map[string]string{}
	get := func(name string) string { return env[name] }
	for _, step := range []struct{ name, value, want string }{
		{"", "", "/tmp"},
		{"TMPDIR", "/var/tmp", "/var/tmp"},
		{"MACKEREL_PLUGIN_WORKDIR", "/var/lib/mackerel", "/var/lib/mackerel"},
	} {
		env[step.name] = step.value
		if got := program.WorkDir(get); got != step.want {
			t.Errorf("with %v: %q, want %q", env, got, step.want)
		}
	}
}

func TestFiles(t *testing.T) {
	dir := t.TempDir()
	path, victim := filepath.Join(dir, "state"), filepath.Join(dir, "victim")
	if _, err := program.ReadFile(path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
	if err := os.WriteFile(victim, []byte("keep"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(victim, path); err != nil {
		t.Fatal(err)
	}
	for _, content := range []string{"one", "two"} {
		if err := program.WriteFile(path, []byte(content)); err != nil {
			t.Fatal(err)
		}
		if got, err := program.ReadFile(path); string(got) != content || err != nil {
			t.Errorf("%q, %v, want %q", got, err, content)
		}
		if info, err := os.Lstat(path); err != nil || info.Mode() != 0o600 {
			t.Errorf("mode %v, %v", info.Mode(), err)
		}
		if err := os.Chmod(path, 0o644); err != nil { // as older plugins left it
			t.Fatal(err)
		}
	}
	if got, _ := os.ReadFile(victim); string(got) != "keep" {
		t.Errorf("the link was followed: %q", got)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, ".*")); len(left) > 0 {
		t.Errorf("left over: %v", left)
	}
	if err := program.WriteFile(filepath.Join(dir, "none", "state"), nil); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no directory: %v", err)
	}
	if _, err := program.ReadFile(dir); err == nil {
		t.Error("a directory was read")
	}
	if err := os.Truncate(victim, program.MaxStateBytes+1); err != nil {
		t.Fatal(err)
	}
	if _, err := program.ReadFile(victim); err == nil || !strings.Contains(err.Error(), "more than a state file has") {
		t.Errorf("a huge file: %v", err)
	}
}
