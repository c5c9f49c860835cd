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
	dir := peers(t)
	for _, d := range append([]string{dir}, filepath.SplitList(os.Getenv("PATH"))...) {
		if path := filepath.Join(d, name); executable(path) {
			return path
		}
	}
	t.Fatalf("%s is missing, neither in %s nor on PATH; `tools/setup test` installs it", name, dir)
	return ""
}

// Dir returns the directory of that name in the one of tools/setup; one that is missing fails the test.
func Dir(t testing.TB, name string) string {
	t.Helper()
	if testing.Short() {
		t.Skip("runs a peer")
	}
	dir := filepath.Join(peers(t), name)
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		t.Fatalf("%s is missing; `tools/setup test` makes it, or `tools/setup long`", dir)
	}
	return dir
}

// peers returns the directory of what tools/setup builds.
func peers(t testing.TB) string {
	t.Helper()
	if dir := os.Getenv(dirEnv); dir != "" {
		return dir
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		t.Fatalf("find what tools/setup builds: %v", err)
	}
	return filepath.Join(cache, "kasoku-peers")
}

func executable(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0
}
