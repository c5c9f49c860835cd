package command

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
)

const eve = 61001 // a user that no host gives to anybody

func asRoot(t *testing.T) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("takes root")
	}
}

// Root finds the system's programs, and none on a PATH of somebody's.
func TestTrustedPath(t *testing.T) {
	asRoot(t)
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "git"), []byte("#!/bin/sh\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir)
	path, err := TrustedPath("ldconfig")
	if err != nil || !slices.Contains(trustedDirs, filepath.Dir(path)) {
		t.Errorf("%q, %v", path, err)
	}
	if path, err := TrustedPath("git"); err != nil || strings.HasPrefix(path, dir) {
		t.Errorf("%q, %v", path, err)
	}
	if _, err := TrustedPath("no-such-program"); !errors.Is(err, exec.ErrNotFound) {
		t.Errorf("%v", err)
	}
	var untrusted *UntrustedError
	if _, err := TrustedPath("./git"); !errors.As(err, &untrusted) {
		t.Errorf("%v", err)
	}
}

// A program, a directory or a link that another may change is none of root's.
func TestCheckProgram(t *testing.T) {
	asRoot(t)
	top, err := os.MkdirTemp("/", ".kasoku-test-") // each directory above is root's, unlike those of /tmp
	if err != nil {
		t.Skipf("no directory in /: %v", err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(top); err != nil {
			t.Error(err)
		}
	})
	dir := filepath.Join(top, "bin")
	program, link := filepath.Join(dir, "p"), filepath.Join(top, "link")
	f := func(want string, change ...error) {
		t.Helper()
		if err := errors.Join(change...); err != nil {
			t.Fatal(err)
		}
		for _, path := range []string{program, link} {
			err := checkProgram(path)
			if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
				t.Errorf("%s: %v, want %q", path, err, want)
			}
		}
		err := errors.Join(os.Chmod(top, 0o755), os.Chown(dir, 0, 0), os.Chmod(dir, 0o755), os.Chown(program, 0, 0),
			os.Chmod(program, 0o755))
		if err != nil {
			t.Fatal(err)
		}
	}
	f("", os.Mkdir(dir, 0o755), os.WriteFile(program, nil, 0o755), os.Symlink("bin/../bin/p", link), os.Chmod(top, 0o755))
	f("uid 61001 owns it", os.Chown(program, eve, 0))
	f("others than root may write", os.Chmod(program, 0o757))
	f("others than root may write", os.Chown(program, 0, eve), os.Chmod(program, 0o775))
	f("", os.Chmod(program, 0o775))
	f("uid 61001 owns it", os.Chown(dir, eve, 0))
	f("others than root may write", os.Chmod(dir, 0o777))
	f("it is no program", os.Chmod(program, 0o644))
}

// What a repository's configuration names runs as the owner of the repository.
func TestGitOfAnother(t *testing.T) {
	asRoot(t)
	dir, err := os.MkdirTemp("/tmp", "kasoku-git-") // that of the test is root's alone
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	if err := errors.Join(os.Chown(dir, eve, eve), os.Chmod(dir, 0o755)); err != nil {
		t.Fatal(err)
	}
	git := func(args ...string) error {
		all := append([]string{"-C", dir, "-c", "user.name=a", "-c", "user.email=a@b"}, args...)
		_, err := Output(t.Context(), Spec{Path: "git", Args: all, As: &Identity{eve, eve}, Trusted: true}, 0)
		return err
	}
	file, marker := filepath.Join(dir, "f"), filepath.Join(dir, "filtered")
	put := func(path, text string) error {
		return errors.Join(os.WriteFile(path, []byte(text), 0o644), os.Chown(path, eve, eve))
	}
	err = errors.Join(git("init", "-q"), put(file, "a\n"), git("add", "f"), git("commit", "-qm", "x"),
		put(filepath.Join(dir, ".gitattributes"), "f filter=evil\n"), git("config", "filter.evil.clean", "id -u >"+marker+"; cat"), put(file, "b, longer\n"))
	if err != nil {
		t.Fatal(err)
	}
	spec, err := Git(filepath.Join(dir, "."))
	if err != nil || spec.As == nil || spec.As.UID != eve || spec.As.GID == 0 {
		t.Fatalf("%+v, %v", spec, err)
	}
	spec.Args = append(spec.Args, "diff", "--no-ext-diff", "--no-textconv", "HEAD")
	if out, err := Output(t.Context(), spec, 0); err != nil || !strings.Contains(string(out), "+b, longer") {
		t.Errorf("%s, %v", out, err)
	}
	if who, err := os.ReadFile(marker); err != nil || string(who) != "61001\n" {
		t.Errorf("the filter ran as %q, %v", who, err)
	}
	// One above a directory of root's was not asked for.
	below := filepath.Join(dir, "root's")
	if err := os.Mkdir(below, 0o755); err != nil {
		t.Fatal(err)
	}
	var untrusted *UntrustedError
	if _, err := Git(below); !errors.As(err, &untrusted) || !strings.Contains(err.Error(), "a repository of uid 61001") {
		t.Errorf("a repository above: %v", err)
	}
	// Of a repository of two users neither's word counts.
	config := filepath.Join(dir, ".git", "config")
	if err := os.Chown(config, eve+1, eve); err != nil {
		t.Fatal(err)
	}
	if _, err := Git(dir); !errors.As(err, &untrusted) {
		t.Errorf("a repository of two users: %v", err)
	}
	if err := errors.Join(os.Chown(config, 0, 0), os.Chown(dir, 0, 0), os.Chown(filepath.Join(dir, ".git"), 0, 0),
		syscall.Chmod(config, 0o666)); err != nil {
		t.Fatal(err)
	}
	if _, err := Git(dir); !errors.As(err, &untrusted) {
		t.Errorf("root's repository that others write to: %v", err)
	}
}
