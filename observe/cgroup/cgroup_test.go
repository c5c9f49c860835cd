package cgroup

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	kasoku "github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/internal/test/golden"
	"github.com/kasoku/kasoku/observe/observetest"
)

// unpack writes a fixture tree to a new directory.
func unpack(t testing.TB, name string) (root string) {
	t.Helper()
	archive, err := txtar.ParseFile(filepath.Join("testdata", name+".txtar"))
	if err != nil {
		t.Fatal(err)
	}
	root = t.TempDir()
	for _, f := range archive.Files {
		write(t, root, f.Name, string(f.Data))
	}
	return root
}

func write(t testing.TB, root, path, content string) {
	t.Helper()
	path = filepath.Join(root, path)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

func watching(pids ...int) func([]int) []int {
	return func(dst []int) []int { return append(dst, pids...) }
}

func open(t testing.TB, root string, pids func([]int) []int) *Source {
	t.Helper()
	s := New(Options{Proc: root + "/proc", Root: root, PIDs: pids})
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func collect(t testing.TB, s *Source) *kasoku.Frame {
	t.Helper()
	var f kasoku.Frame
	if err := s.Collect(t.Context(), &f); err != nil {
		t.Fatal(err)
	}
	return &f
}

func print(f *kasoku.Frame) string {
	var b strings.Builder
	for _, s := range f.Samples {
		kind := "gauge"
		if s.Kind == kasoku.Counter {
			kind = "counter"
		}
		fmt.Fprintf(&b, "%-30s %-22s %-7s %-5s %s\n", s.Instance, s.Name, kind, s.Unit, strconv.FormatFloat(s.Value, 'g', -1, 64))
	}
	return b.String()
}

func instances(f *kasoku.Frame) []string {
	var out []string
	for _, s := range f.Samples {
		if !slices.Contains(out, s.Instance) {
			out = append(out, s.Instance)
		}
	}
	return out
}

func find(f *kasoku.Frame, instance, name string) (float64, bool) {
	for _, s := range f.Samples {
		if s.Instance == instance && s.Name == name {
			return s.Value, true
		}
	}
	return 0, false
}

// TestTrees: the trees of a host with version 2, of a container, of version 1 and
// of both together.
func TestTrees(t *testing.T) {
	var all []kasoku.Sample
	f := func(name string, pids ...int) {
		t.Helper()
		t.Run(name, func(t *testing.T) {
			s := open(t, unpack(t, name), watching(pids...))
			frame := collect(t, s)
			all = append(all, frame.Samples...)
			golden.CheckString(t, "testdata/"+name+".golden", print(frame))
			if w := s.Warnings(); len(w) > 0 {
				t.Errorf("warnings %+v", w)
			}
		})
	}
	f("v2", 1204, 1205, 900, 77, 4_000_000)
	f("container", 1, 8)
	f("v1", 1204, 900)
	f("hybrid", 1204)
	observetest.Sampled(t, &Declared, all, nil)
}

// A limit may be set, changed and taken away while a run goes on.
func TestLimitsAreReadAgain(t *testing.T) {
	root := unpack(t, "v2")
	s := open(t, root, watching(1204))
	const dir = "sys/fs/cgroup/system.slice/nginx.service/"
	f := func(content string, want float64, wantOK bool) {
		t.Helper()
		write(t, root, dir+"pids.max", content)
		var frame *kasoku.Frame
		for range rereadTicks {
			frame = collect(t, s)
		}
		if v, ok := find(frame, "nginx.service", "pids.max"); v != want || ok != wantOK {
			t.Fatalf("after %q: %v, %t", content, v, ok)
		}
	}
	f("4096\n", 4096, true)
	f("max\n", 0, false)
	f("100\n", 100, true)
	f("", 0, false)
}

// A group is read on for a while after its process has become idle.
func TestGroupsAreLeft(t *testing.T) {
	root := unpack(t, "v2")
	busy := []int{1204}
	s := open(t, root, func(dst []int) []int { return append(dst, busy...) })
	if got := instances(collect(t, s)); !slices.Contains(got, "nginx.service") {
		t.Fatal(got)
	}
	busy = nil
	for range keepTicks {
		if got := instances(collect(t, s)); !slices.Contains(got, "nginx.service") {
			t.Fatal(got)
		}
	}
	if got := instances(collect(t, s)); len(got) > 0 {
		t.Fatal(got)
	}
	if len(s.groups)+len(s.order)+len(s.names)+len(s.members) > 0 {
		t.Fatalf("kept: %v %v %v", s.groups, s.names, s.members)
	}
	busy = []int{1204}
	if got := instances(collect(t, s)); !slices.Contains(got, "nginx.service") {
		t.Fatal(got)
	}
}

// A process that moves is followed.
func TestProcessMoves(t *testing.T) {
	root := unpack(t, "v2")
	s := open(t, root, watching(1204))
	collect(t, s)
	write(t, root, "proc/1204/cgroup", "0::/system.slice/mariadb.service\n")
	for range rereadTicks {
		collect(t, s)
	}
	if got := instances(collect(t, s)); !slices.Contains(got, "mariadb.service") {
		t.Fatal(got)
	}
}

// TestManyDevices: io.stat has a line for each device, and may be longer than a page.
func TestManyDevices(t *testing.T) {
	root := unpack(t, "v2")
	write(t, root, "proc/1/cgroup", "0::/a.slice/worker\n")
	var text strings.Builder
	want := 0.0
	for i := range 60 {
		n := 1_000_000 * (i + 1)
		want += float64(n)
		fmt.Fprintf(&text, "253:%d rbytes=%d wbytes=%d rios=%d wios=%d dbytes=0 dios=0\n", i, n, 7*n, n/4096, n/512)
	}
	write(t, root, "sys/fs/cgroup/a.slice/worker/io.stat", text.String())
	if got, ok := find(collect(t, open(t, root, watching(1))), "worker", "io.read_bytes"); !ok || got != want {
		t.Errorf("%d bytes of text: %v, want %v", text.Len(), got, want)
	}
}

func TestSameNames(t *testing.T) {
	root := unpack(t, "v2")
	write(t, root, "proc/1/cgroup", "0::/a.slice/worker\n")
	write(t, root, "proc/2/cgroup", "0::/b.slice/worker\n")
	write(t, root, "sys/fs/cgroup/a.slice/worker/pids.current", "1\n")
	write(t, root, "sys/fs/cgroup/b.slice/worker/pids.current", "2\n")
	frame := collect(t, open(t, root, watching(1, 2)))
	for instance, want := range map[string]float64{"worker": 1, "/b.slice/worker": 2} {
		if v, ok := find(frame, instance, "pids.current"); !ok || v != want {
			t.Errorf("%s: %v, %t", instance, v, ok)
		}
	}
}

// Too many groups cost no more than the most that are kept.
func TestManyGroups(t *testing.T) {
	root := unpack(t, "v2")
	var pids []int
	for pid := 10_000; pid < 10_000+2*maxGroups; pid++ {
		write(t, root, fmt.Sprintf("proc/%d/cgroup", pid), fmt.Sprintf("0::/many/g%d\n", pid))
		write(t, root, fmt.Sprintf("sys/fs/cgroup/many/g%d/pids.current", pid), "1\n")
		pids = append(pids, pid)
	}
	s := open(t, root, watching(pids...))
	if got := len(instances(collect(t, s))); got > maxGroups || got < maxGroups/2 || len(s.groups) > maxGroups {
		t.Fatalf("%d instances of %d groups", got, len(s.groups))
	}
}

// Without any hierarchy, and without procfs, there is nothing, and no error.
func TestNothingMounted(t *testing.T) {
	s := open(t, t.TempDir(), watching(1))
	if f := collect(t, s); len(f.Samples) > 0 {
		t.Fatal(print(f))
	}
	if len(s.Warnings()) > 0 {
		t.Fatal(s.Warnings())
	}
}

// TestThisMachine reads the groups of this process, whatever they are.
func TestThisMachine(t *testing.T) {
	s := New(Options{PIDs: watching(os.Getpid())})
	defer s.Close()
	for _, x := range collect(t, s).Samples {
		if x.Name == "" || x.Instance == "" || x.Unit == "" || x.Value < 0 {
			t.Errorf("%+v", x)
		}
	}
	if w := s.Warnings(); len(w) > 0 {
		t.Errorf("%+v", w)
	}
}

func TestShortIDs(t *testing.T) {
	f := func(in, want string) {
		t.Helper()
		if got := shortIDs(in); got != want {
			t.Fatalf("shortIDs(%q) = %q, want %q", in, got, want)
		}
	}
	const id = "4f2c91e0a1b2c3d4e5f60718293a4b5c6d7e8f90123456789abcdef012345678"
	f("", "")
	f("nginx.service", "nginx.service")
	f("docker-"+id+".scope", "docker-4f2c91e0a1b2.scope")
	f(id, "4f2c91e0a1b2")
	f("user@1000.service", "user@1000.service")
	f(`dev-disk-by\x2duuid-deadbeef.swap`, `dev-disk-by\x2duuid-deadbeef.swap`)
}

func TestParseQuota(t *testing.T) {
	f := func(text string, want float64, wantOK bool) {
		t.Helper()
		if v, ok := parseQuota([]byte(text)); v != want || ok != wantOK {
			t.Fatalf("parseQuota(%q) = %v, %t", text, v, ok)
		}
	}
	f("150000 100000", 1.5, true)
	f("max 100000", 0, false)
	f("100000", 0, false)
	f("100000 0", 0, false)
	f("", 0, false)
}

func TestParseLimit(t *testing.T) {
	f := func(text string, want float64, wantOK bool) {
		t.Helper()
		if v, ok := parseLimit([]byte(text)); ok != wantOK || ok && v != want {
			t.Fatalf("parseLimit(%q) = %v, %t", text, v, ok)
		}
	}
	f("64", 64, true)
	f("0", 0, true)
	f("max", 0, false)
	f("-1", 0, false)
	f("9223372036854771712", 0, false)
	f("", 0, false)
}

func TestParseMounts(t *testing.T) {
	f := func(text, want string) {
		t.Helper()
		got := ""
		for _, h := range parseMounts([]byte(text)) {
			got += fmt.Sprintf("%s %s %t %s;", h.mount, h.root, h.v2, strings.Join(h.controllers, ","))
		}
		if got != want {
			t.Fatalf("parseMounts(%q) = %q, want %q", text, got, want)
		}
	}
	f("", "")
	f("30 23 0:26 / /sys/fs/cgroup rw,nosuid shared:9 master:2 - cgroup2 cgroup2 rw,nsdelegate\n", "/sys/fs/cgroup / true pids,cpu,memory,io,pressure;")
	f("1 2 0:3 /docker/a\\040b /sys/fs/cgroup/cpu,cpuacct ro - cgroup cgroup rw,cpuacct,cpu\n", "/sys/fs/cgroup/cpu,cpuacct /docker/a b false cpuacct,cpu;")
	f("1 2 0:3 / /a rw - cgroup cgroup rw,name=systemd\n", "")
	f("1 2 0:3 / /a rw - cgroup cgroup rw,pids\n1 2 0:3 / /b rw - cgroup cgroup rw,pids\n", "/a / false pids;")
	f("1 2 0:3 / /u rw - cgroup2 none rw\n1 2 0:3 / /a rw - cgroup cgroup rw,cpuacct\n", "/u / true pids,memory,io,pressure;/a / false cpuacct;")
	f("1 2 0:3 / /u rw - cgroup2 none rw\n1 2 0:3 / /a rw - cgroup cgroup rw,blkio\n", "/u / true pids,cpu,memory,pressure;/a / false blkio;")
	f("1 2 0:3 /\n1 2 0:3 / /a rw - cgroup2\n", "")
}

func TestEachMembership(t *testing.T) {
	f := func(text, want string) {
		t.Helper()
		got := ""
		eachMembership([]byte(text), func(c, p []byte) { got += string(c) + "=" + string(p) + ";" })
		if got != want {
			t.Fatalf("eachMembership(%q) = %q, want %q", text, got, want)
		}
	}
	f("", "")
	f("0::/system.slice/nginx.service\n", "=/system.slice/nginx.service;")
	f("5:cpu,cpuacct:/a\n1:name=systemd:/b:c\n0::/\n", "cpu,cpuacct=/a;name=systemd=/b:c;=/;")
	f("0::/../other\n0::/gone (deleted)\n0::\n0\nx", "")
}

func TestAppendDir(t *testing.T) {
	f := func(root, path, want string, wantOK bool) {
		t.Helper()
		h := hierarchy{mount: "/cg", root: root}
		if got, ok := h.appendDir(nil, []byte(path)); ok != wantOK || ok && string(got) != want {
			t.Fatalf("%s in %s: %q, %t", path, root, got, ok)
		}
	}
	f("/", "/a/b", "/cg/a/b", true)
	f("/", "/", "/cg", true)
	f("/docker/x", "/docker/x", "/cg", true)
	f("/docker/x", "/docker/x/y", "/cg/y", true)
	f("/docker/x", "/docker/xy", "", false)
	f("/docker/x", "/", "", false)
}
