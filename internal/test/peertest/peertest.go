// Package peertest finds the programs that kasoku is compared with: those that
// `tools/setup test` installs or builds.
package peertest

import (
	"os"
	"path/filepath"
	"testing"
)

// dirEnv names the directory that holds the peers which tools/setup builds.
const dirEnv = "KASOKU_PEERS"

// Path returns the program of that name: from the directory of tools/setup, else
// from PATH. A program that is missing fails the test; in a short run the test is
// skipped, since those make do without peers.
func Path(t testing.TB, name string) string {
	t.Helper()
	if testing.Short() {
		t.Skip("runs a peer")
	}
	dir := os.Getenv(dirEnv)
	if dir == "" {
		cache, err := os.UserCacheDir()
		if err != nil {
			t.Fatalf("find %s: %v", name, err)
		}
		dir = filepath.Join(cache, "kasoku-peers")
	}
	for _, d := range append([]string{dir}, filepath.SplitList(os.Getenv("PATH"))...) {
		if path := filepath.Join(d, name); executable(path) {
			return path
		}
	}
	t.Fatalf("%s is missing, neither in %s nor on PATH; `tools/setup test` installs it", name, dir)
	return ""
}

func executable(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0
}
