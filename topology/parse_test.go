package topology

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestParseCgroup(t *testing.T) {
	f := func(text, unit, container string) {
		t.Helper()
		u, c := parseCgroup([]byte(text))
		if u != unit || c != container {
			t.Errorf("%s\ngot %q, %q", text, u, c)
		}
	}
	id := strings.Repeat("0123456789abcdef", 4)
	f("0::/system.slice/nginx.service\n", "nginx.service", "")
	f("12:cpu:/\n1:name=systemd:/system.slice/mysql.service\n", "mysql.service", "")
	f("0::/user.slice/user-1000.slice/user@1000.service/app.slice/app.service", "app.service", "")
	f("0::/user.slice/user-1000.slice/user@1000.service/session.slice", "", "")
	f("0::/user.slice/user-1000.slice/session-3.scope", "", "")
	f("0::/system.slice/docker-"+id+".scope", "", "0123456789ab")
	f("4:memory:/docker/"+id, "", "0123456789ab")
	f("0::/system.slice/containerd.service/kubepods/cri-containerd-"+id+".scope", "", "0123456789ab")
	f("nonsense", "", "")
}

func TestParseTCP(t *testing.T) {
	text := "  sl  local_address rem_address   st\n" +
		"   0: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 103 1\n" +
		"   1: 0000000000000000FFFF00000100007F:1F90 0000000000000000FFFF00000100007F:0050 01 0:0 0:0 0 33 0 104 1\n" +
		"   2: 0100007F:1F90 0100007F:0050 06 0:0 0:0 0 33 0 0 1\n" +
		"   3: 01007F:1F90 0100007F:0050 0A 0:0 0:0 0 33 0 0 1\n"
	got := parseTCP([]byte(text))
	if len(got) != 2 || got[0].local.String() != "127.0.0.1:8080" || !got[0].listens || got[0].uid != 1000 || got[0].inode != "103" {
		t.Errorf("got %+v", got)
	}
	if got[1].local.String() != "127.0.0.1:8080" || got[1].remote.Port() != 80 || got[1].listens {
		t.Errorf("got %+v", got[1])
	}
}

func TestParseUnix(t *testing.T) {
	text := "Num       RefCount Protocol Flags    Type St Inode Path\n" +
		"0: 00000002 00000000 00010000 0001 01 120 /run/a.sock\n0: 00000002 00000000 00010000 0001 01 121 @abstract\n" +
		"0: 00000003 00000000 00000000 0001 03 122 /run/a.sock\n0: 00000003 00000000 00000000 0001 03 123\n"
	got := parseUnix([]byte(text))
	if len(got) != 1 || got[0].path != "/run/a.sock" || got[0].inode != "120" {
		t.Errorf("got %+v", got)
	}
}

func TestParseStatus(t *testing.T) {
	f := func(text, name string, parent, uid int) {
		t.Helper()
		n, p, u := parseStatus([]byte(text))
		if n != name || p != parent || u != uid {
			t.Errorf("%q: got %q, %d, %d", text, n, p, u)
		}
	}
	f("Name:\ttmux: server\nPPid:\t1\nUid:\t5\t6\t7\t8\n", "tmux: server", 1, 6)
	f("", "", -1, -1)
	f("PPid:\tx\nUid:\t1\n", "", -1, -1)
}

func TestMeets(t *testing.T) {
	f := func(upstream, network, address string, port int, want bool) {
		t.Helper()
		if meets(upstream, Listener{Network: network, Address: address, Port: port}) != want {
			t.Errorf("%s and %s: want %v", upstream, address, want)
		}
	}
	f("127.0.0.1:8080", "tcp", "0.0.0.0:8080", 8080, true)
	f("localhost:8080", "tcp", "[::]:8080", 8080, true)
	f("[::1]:8080", "tcp", "[::]:8080", 8080, true)
	f("10.0.0.2:8080", "tcp", "127.0.0.1:8080", 8080, false)
	f("127.0.0.1:8081", "tcp", "127.0.0.1:8080", 8080, false)
	f("unix:/run/app.sock", "unix", "/run/app.sock", 0, true)
	f("shop", "tcp", "127.0.0.1:8080", 8080, false)
}

// TestSockets_Forged: the name of a Unix socket may look like a line of the table: of another's
// socket, by its number.
func TestSockets_Forged(t *testing.T) {
	root := t.TempDir()
	dir := filepath.Join(root, "proc", "net")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	const line = "0000000000000000: 00000002 00000000 00010000 0001 01 "
	for name, text := range map[string]string{
		"tcp":  "  sl  local_address\n 0: 0100007F:0CEA 00000000:0000 0A 0:0 0:0 0 109 0 101 1\n 1: 0100007F:0CEA 0100007F:9C40 06 0:0 0:0 0 0 0 0 3\n",
		"tcp6": "",
		"unix": "Num       RefCount Protocol Flags    Type St Inode Path\n" + line + "201 /run/a.sock\n" + line + "202 /run/b.sock\n" +
			line + "203 @x\n" + line + "101 /tmp/evil.sock\n" + // of the TCP listener
			line + "204 @y\n" + line + "202 /tmp/evil.sock\n", // of b
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var got []string
	for _, s := range (tree{root}).sockets("/proc/net", func(path string, err error) { t.Errorf("%s: %v", path, err) }) {
		got = append(got, s.network+" "+s.inode+" "+s.path)
	}
	if want := []string{"tcp 101 ", "unix 201 /run/a.sock"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
