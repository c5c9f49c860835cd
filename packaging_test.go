package kasoku_test

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// installed is what the script that stands for kasoku prints.
const installed = "#!/bin/sh\necho \"kasoku 9.8.7 $1\"\n"

// TestInstallScript: what has the checksum is installed; anything else leaves nothing.
func TestInstallScript(t *testing.T) {
	var archive bytes.Buffer
	z := zip.NewWriter(&archive)
	w, err := z.Create("kasoku")
	if err == nil {
		_, err = w.Write([]byte(installed))
	}
	if err == nil {
		err = z.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	name := "kasoku_linux_" + runtime.GOARCH + ".zip"
	good := fmt.Sprintf("%x  %s\n", sha256.Sum256(archive.Bytes()), name)
	for _, x := range []struct {
		name, sums, says string
		ok               bool
	}{
		{"good", good, "kasoku 9.8.7 version\ninstalled: ", true},
		{"another checksum", strings.Repeat("0", 64) + "  " + name + "\n", "another checksum", false},
		{"no line", strings.ReplaceAll(good, name, "x-"+name), "no line", false},
		{"two lines", good + strings.Repeat("0", 64) + "  " + name + "\n", "several lines", false},
		{"empty", "", "no line", false},
	} {
		t.Run(x.name, func(t *testing.T) {
			from, prefix := t.TempDir(), t.TempDir()
			for file, content := range map[string][]byte{name: archive.Bytes(), "SHA256SUMS": []byte(x.sums)} {
				if err := os.WriteFile(filepath.Join(from, file), content, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			cmd := exec.CommandContext(t.Context(), "sh", "tools/packaging/install.sh")
			cmd.Env = append(os.Environ(), "FROM="+from, "PREFIX="+prefix)
			out, err := cmd.CombinedOutput()
			_, missing := os.Stat(filepath.Join(prefix, "bin", "kasoku"))
			if (err == nil) != x.ok || (missing == nil) != x.ok || !strings.Contains(string(out), x.says) {
				t.Errorf("%v, kasoku there: %v\n%s", err, missing == nil, out)
			}
			if left, _ := filepath.Glob(filepath.Join(prefix, "bin", ".*")); len(left) > 0 {
				t.Errorf("left: %q", left)
			}
		})
	}
}

// TestReleaseNotes: the notes of a version are its part of the changelog alone.
func TestReleaseNotes(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "tools"), 0o700); err != nil {
		t.Fatal(err)
	}
	for file, content := range map[string][]byte{
		"tools/release-notes": readFile(t, "tools/release-notes"),
		"CHANGELOG.md":        []byte("# Changelog\n\n## Unreleased\n\n- new\n\n## 1.2.3\n\n- one\n- two\n\n## 1.2.30\n\n- old\n"),
	} {
		if err := os.WriteFile(filepath.Join(dir, file), content, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for version, want := range map[string]string{"v1.2.3": "- one\n- two\n", "1.2.30": "- old\n", "v1.2.4": ""} {
		out, err := exec.CommandContext(t.Context(), filepath.Join(dir, "tools/release-notes"), version).Output()
		if string(out) != want || (err == nil) != (want != "") {
			t.Errorf("%s: %q, %v", version, out, err)
		}
	}
}

// checkPackage makes the package of an archive and looks at what is in it.
func checkPackage(t *testing.T, dist string) {
	t.Helper()
	if _, err := exec.LookPath("dpkg-deb"); err != nil {
		t.Log("no dpkg-deb: no package")
		return
	}
	dir, name := t.TempDir(), "kasoku_linux_"+runtime.GOARCH+".zip"
	for _, file := range []string{name, "SHA256SUMS"} {
		if err := os.WriteFile(filepath.Join(dir, file), readFile(t, filepath.Join(dist, file)), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if out, err := exec.CommandContext(t.Context(), "tools/packages", dir).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	debs, err := filepath.Glob(filepath.Join(dir, "kasoku_*_"+runtime.GOARCH+".deb"))
	if err != nil || len(debs) != 1 {
		t.Fatalf("packages %q, %v", debs, err)
	}
	if !strings.Contains(string(readFile(t, filepath.Join(dir, "SHA256SUMS"))), "  "+filepath.Base(debs[0])+"\n") {
		t.Error("SHA256SUMS has no line for the package")
	}
	root := t.TempDir()
	if out, err := exec.CommandContext(t.Context(), "dpkg-deb", "-x", debs[0], root).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, file := range []string{"bin/kasoku", "bin/mackerel-plugin-mysql", "bin/check-lastlog", "share/man/man1/kasoku.1.gz",
		"share/man/man1/kasoku-run.1.gz", "share/bash-completion/completions/kasoku", "share/zsh/vendor-completions/_kasoku",
		"share/fish/vendor_completions.d/kasoku.fish", "share/doc/kasoku/copyright", "lib/systemd/system/kasoku-export.service"} {
		if st, err := os.Stat(filepath.Join(root, "usr", file)); err != nil || st.Size() == 0 {
			t.Errorf("%s: %v", file, err)
		}
	}
	out, err := exec.CommandContext(t.Context(), filepath.Join(root, "usr/bin/kasoku"), "version").Output()
	if err != nil || !strings.HasPrefix(string(out), "kasoku ") {
		t.Errorf("%q, %v", out, err)
	}
}
