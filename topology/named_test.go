package topology

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/kasoku/kasoku/internal/test/liar"
	"github.com/kasoku/kasoku/sandbox"
	"github.com/kasoku/kasoku/sandbox/sandboxtest"
)

// TestLook_NamedByOthers: who may write a file that root's nginx includes can name any file as
// a log there, after nginx read it. Those that nginx has open are its logs.
func TestLook_NamedByOthers(t *testing.T) {
	if testing.Short() || os.Geteuid() != 0 {
		t.Skip("a file of another user's takes root")
	}
	dir := liar.Dir(t, 0)
	site := filepath.Join(dir, "site.conf")
	text := "server {\n    listen 127.0.0.1:{port};\n    access_log " + dir + "/site.log;\n    return 200;\n}\n"
	liar.Write(t, site, "", 0, 0o644)
	web := sandboxtest.Nginx(t, sandbox.NginxOptions{Dir: filepath.Join(dir, "run"), Config: "pid {dir}/nginx.pid;\nerror_log {dir}/error.log;\n" +
		"events {}\nhttp {\n    access_log off;\n    " + strings.ReplaceAll(text, "\n", "\n    ") + "\n    include " + site + ";\n}\n"})
	liar.Write(t, site, "access_log /etc/shadow;\nerror_log /etc/gshadow;\nserver {\n    access_log "+dir+"/site.log;\n}\n", liar.Eve, 0o644)
	if err := os.Chown(site, liar.Eve, liar.Eve); err != nil {
		t.Fatal(err)
	}
	found, err := Look(t.Context(), Options{Own: func(*Service) bool { return false }})
	if err != nil {
		t.Fatal(err)
	}
	var logs, notes []string
	for _, l := range found.Logs {
		if strings.HasPrefix(l.Path, dir) || strings.HasPrefix(l.Path, "/etc/") {
			logs = append(logs, l.Path)
		}
	}
	for _, n := range found.Notes {
		if strings.Contains(n.What, site) {
			notes = append(notes, n.What)
		}
	}
	slices.Sort(logs)
	slices.Sort(notes)
	if want := []string{filepath.Join(dir, "run", "error.log"), dir + "/site.log"}; !slices.Equal(logs, want) {
		t.Errorf("logs of the nginx at %s: %q, want %q", web.URL(), logs, want)
	}
	if want := []string{"nginx access_log /etc/shadow in " + site, "nginx error_log /etc/gshadow in " + site}; !slices.Equal(notes, want) {
		t.Errorf("notes %q, want %q", notes, want)
	}
}
