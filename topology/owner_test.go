package topology

import (
	"net"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

func TestOwners(t *testing.T) {
	tcp, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer tcp.Close()
	path := filepath.Join(t.TempDir(), "s.sock")
	local, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	defer local.Close()
	_, port, err := net.SplitHostPort(tcp.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	f := func(network, address string, want bool) {
		t.Helper()
		if got := Owners(network, address); slices.Contains(got, os.Getpid()) != want {
			t.Errorf("%s %s: %v, want this process: %v", network, address, got, want)
		}
	}
	f("tcp", "127.0.0.1:"+port, true)
	f("tcp", "localhost:"+port, true)
	f("tcp", "127.0.0.2:"+port, false)
	f("tcp", "192.0.2.1:"+port, false)
	f("tcp", "127.0.0.1:1", false)
	f("unix", path, true)
	f("unix", filepath.Dir(path)+"/../"+filepath.Base(filepath.Dir(path))+"/s.sock", true)
	f("unix", "127.0.0.1:"+port, false)
	f("", "", false)
}
