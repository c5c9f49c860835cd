package staticfile

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/sandbox"
	"github.com/kasoku/kasoku/sandbox/sandboxtest"
)

// TestRoots: a path is a file where nginx may read one of the answers' size; what comes
// from a database, has another size, or may not be read is none.
func TestRoots(t *testing.T) {
	root := t.TempDir()
	for dir := root; dir != os.TempDir(); dir = filepath.Dir(dir) {
		if err := os.Chmod(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for name, text := range map[string]string{"a.css": "0123456789", "page.html": "a template",
		"big.js": "0123456789012345678901234567890123456789"} {
		if err := os.WriteFile(filepath.Join(root, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(root, "dir.png"), 0o755); err != nil {
		t.Fatal(err)
	}
	s := sandboxtest.Nginx(t, sandbox.NginxOptions{})
	service := &kasoku.Service{Members: []kasoku.Member{{ID: "w", Role: kasoku.RoleWeb, Program: "nginx",
		Host: "here", Sure: kasoku.High,
		Processes: []kasoku.MemberProcess{{PID: s.Pid(), Leader: true}}}}}
	configs := []kasoku.Config{{Kind: "nginx", Name: "nginx.conf",
		Text: "http { server { root " + root + "; location / { proxy_pass http://app; } } }"}}
	var endpoints []kasoku.Endpoint
	for route, size := range map[string]uint64{"/a.css": 10, "/row.png": 10, "/page.html": 500_000,
		"/big.js": 12, "/dir.png": 10, "/:id.png": 10, "/../a.css": 10} {
		endpoints = append(endpoints, kasoku.Endpoint{Method: "GET", Route: route, Count: 9,
			Codes: map[int]uint64{200: 9}, UpstreamCount: 9, MinBytes: size, MaxBytes: size})
	}
	got := map[string]string{}
	for _, x := range Roots("here", service, configs, endpoints) {
		got[x.Name] = x.Value
	}
	if len(got) != 2 || got["/a.css"] != root || got["/big.js"] != root {
		t.Errorf("%v", got)
	}
}
