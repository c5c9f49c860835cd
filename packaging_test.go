package kasoku_test

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"encoding/pem"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"testing/fstest"
)

// installed is what the script that stands for kasoku prints.
const installed = "#!/bin/sh\necho \"kasoku 9.8.7 $1\"\n"

// installArchive is an archive with that script, by its name, and its line of SHA256SUMS.
func installArchive(t *testing.T) (name string, content []byte, sums string) {
	t.Helper()
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
	name = "kasoku_linux_" + runtime.GOARCH + ".zip"
	return name, archive.Bytes(), fmt.Sprintf("%x  %s\n", sha256.Sum256(archive.Bytes()), name)
}

// TestInstallScript: what has the checksum is installed; anything else leaves nothing.
func TestInstallScript(t *testing.T) {
	name, archive, good := installArchive(t)
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
			for file, content := range map[string][]byte{name: archive, "SHA256SUMS": []byte(x.sums)} {
				if err := os.WriteFile(filepath.Join(from, file), content, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			cmd := exec.CommandContext(t.Context(), "sh", "-c", "umask 077; . tools/packaging/install.sh")
			cmd.Env = append(os.Environ(), "FROM="+from, "PREFIX="+prefix)
			out, err := cmd.CombinedOutput()
			st, missing := os.Stat(filepath.Join(prefix, "bin", "kasoku"))
			if missing == nil && st.Mode() != 0o755 {
				t.Errorf("mode %v under a umask", st.Mode())
			}
			if (err == nil) != x.ok || (missing == nil) != x.ok || !strings.Contains(string(out), x.says) {
				t.Errorf("%v, kasoku there: %v\n%s", err, missing == nil, out)
			}
			if left, _ := filepath.Glob(filepath.Join(prefix, "bin", ".*")); len(left) > 0 {
				t.Errorf("left: %q", left)
			}
		})
	}
}

// TestInstallScript_Redirect: from https no step leads to http, with either client.
func TestInstallScript_Redirect(t *testing.T) {
	name, archive, sums := installArchive(t)
	release := http.FileServerFS(fstest.MapFS{name: {Data: archive}, "SHA256SUMS": {Data: []byte(sums)}})
	plain := httptest.NewServer(release)
	defer plain.Close()
	mux := http.NewServeMux()
	safe := httptest.NewTLSServer(mux)
	defer safe.Close()
	mux.Handle("/", release)
	mux.Handle("/https/", http.StripPrefix("/https", redirectTo(safe.URL)))
	mux.Handle("/http/", http.StripPrefix("/http", redirectTo(plain.URL)))
	dir := t.TempDir()
	authority := filepath.Join(dir, "ca.pem")
	for file, content := range map[string][]byte{
		authority:                    pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: safe.Certificate().Raw}),
		filepath.Join(dir, "wgetrc"): []byte("ca_certificate = " + authority + "\n"),
	} {
		if err := os.WriteFile(file, content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, client := range []string{"curl", "wget"} {
		if _, err := exec.LookPath(client); err != nil {
			t.Logf("no %s here", client)
			continue
		}
		path := toolsWith(t, client)
		for from, ok := range map[string]bool{safe.URL: true, safe.URL + "/https": true, safe.URL + "/http": false,
			plain.URL: true} {
			prefix := t.TempDir()
			cmd := exec.CommandContext(t.Context(), "sh", "tools/packaging/install.sh")
			cmd.Env = []string{"PATH=" + path, "FROM=" + from, "PREFIX=" + prefix, "CURL_CA_BUNDLE=" + authority,
				"WGETRC=" + filepath.Join(dir, "wgetrc")}
			out, err := cmd.CombinedOutput()
			if _, missing := os.Stat(filepath.Join(prefix, "bin", "kasoku")); (err == nil) != ok || (missing == nil) != ok {
				t.Errorf("%s from %s: %v, kasoku there: %v\n%s", client, from, err, missing == nil, out)
			}
			if ok && !strings.Contains(string(out), "sudo "+prefix+"/bin/kasoku\n") {
				t.Errorf("where sudo does not look for it, it is not said how it is called:\n%s", out)
			}
		}
	}
}

// redirectTo sends each path on to that of another address.
func redirectTo(address string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, address+r.URL.Path, http.StatusFound)
	})
}

// TestInstallUnderSudo: who called sudo builds what is theirs; root installs it.
func TestInstallUnderSudo(t *testing.T) {
	bin := t.TempDir()
	for name, prints := range map[string]string{"id": "0", "stat": "ann"} {
		if err := os.WriteFile(filepath.Join(bin, name), []byte("#!/bin/sh\necho "+prints+"\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for caller, want := range map[string]bool{"ann": true, "ben": false, "root": false, "": false} {
		cmd := exec.Command("make", "--dry-run", "install", "DESTDIR=/nowhere", "SUDO_USER="+caller)
		cmd.Env = append(os.Environ(), "PATH="+bin+":"+os.Getenv("PATH"))
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		built := strings.Count(string(out), "sudo -H -u ann")
		if want && built != 2 || !want && built != 0 || !strings.Contains(string(out), "\ninstall -D -m 755 bin/kasoku /nowhere") {
			t.Errorf("called by %q: %d steps are the caller's:\n%s", caller, built, out)
		}
	}
}

// toolsWith is a $PATH of what the installer needs, and one client.
func toolsWith(t *testing.T, client string) string {
	t.Helper()
	dir := t.TempDir()
	for _, tool := range strings.Fields("sh uname mktemp rm cp grep wc sha256sum mkdir unzip bsdtar python3 chmod " +
		"install mv dirname head " + client) {
		if at, err := exec.LookPath(tool); err == nil {
			if err := os.Symlink(at, filepath.Join(dir, tool)); err != nil {
				t.Fatal(err)
			}
		}
	}
	return dir
}

// TestPackageVersion: a version of a package has no dash, and one that is no release is the least.
func TestPackageVersion(t *testing.T) {
	var lines []string
	for line := range strings.Lines(string(readFile(t, "tools/packages"))) {
		if strings.HasPrefix(line, "[[ $version =~") || strings.HasPrefix(line, "version=${") {
			lines = append(lines, line)
		}
	}
	for version, want := range map[string]string{"1.2.3": "1.2.3", "1.2.3-rc1": "1.2.3~rc1",
		"1.2.3-rc.1-5-gabc": "1.2.3~rc.1~5~gabc", "(devel)": "0.0.0"} {
		script := "version=$1\n" + strings.Join(lines, "") + `printf %s "$version"`
		out, err := exec.CommandContext(t.Context(), "bash", "-c", script, "bash", version).CombinedOutput()
		if err != nil || string(out) != want || len(lines) != 2 {
			t.Errorf("%s: %q, %v, of %d lines", version, out, err, len(lines))
		}
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
		"share/fish/vendor_completions.d/kasoku.fish", "share/doc/kasoku/copyright", "share/kasoku/grafana/prometheus.json", "lib/systemd/system/kasoku-export.service"} {
		if st, err := os.Stat(filepath.Join(root, "usr", file)); err != nil || st.Size() == 0 {
			t.Errorf("%s: %v", file, err)
		}
	}
	out, err := exec.CommandContext(t.Context(), filepath.Join(root, "usr/bin/kasoku"), "version").Output()
	if err != nil || !strings.HasPrefix(string(out), "kasoku ") {
		t.Errorf("%q, %v", out, err)
	}
}
