package profile_test

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	pprof "github.com/google/pprof/profile"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/observe/profile"
)

func clock() func() time.Duration {
	began := time.Now()
	return func() time.Duration { return time.Since(began) }
}

func byKind(t *testing.T, got profile.Taken) map[kasoku.ProfileKind]*kasoku.Profile {
	t.Helper()
	out := map[kasoku.ProfileKind]*kasoku.Profile{}
	for i := range got.Profiles {
		p := &got.Profiles[i]
		if out[p.Kind] != nil {
			t.Errorf("two of %s", p.Kind)
		}
		out[p.Kind] = p
	}
	return out
}

// rank returns the place of a function by its own share, from 1; 0 when it is not there.
func rank(p *kasoku.Profile, name string) int {
	return 1 + slices.IndexFunc(p.Functions, func(f kasoku.ProfileFunction) bool { return strings.HasSuffix(f.Name, name) })
}

// worked returns the place of a function by its own share of the CPU, and that share,
// both among what works: runtime.asyncPreempt is where samples fall when a machine with
// other work stops a thread.
func worked(p *kasoku.Profile, name string) (place int, share float64) {
	all := *p
	all.Functions = nil
	for _, f := range p.Functions {
		if f.Name == "runtime.asyncPreempt" {
			all.Total -= f.Flat
		} else {
			all.Functions = append(all.Functions, f)
		}
	}
	if place = rank(&all, name); place > 0 {
		share = all.Share(all.Functions[place-1].Flat)
	}
	return place, share
}

// The hot function of a real service is named, with its waits, and go tool pprof
// reads what is kept.
func TestTake(t *testing.T) {
	got := profile.Take(t.Context(), profile.Options{Address: service(t, "waits"), Host: "lab1", CPU: []time.Duration{time.Second, time.Second}, Now: clock()})
	if len(got.Warnings) > 0 {
		t.Fatalf("%+v", got.Warnings)
	}
	by := byKind(t, got)
	for _, k := range kasoku.ProfileKinds() {
		if k == kasoku.ProfileWaiting {
			continue // the kernel sees it, not the program
		}
		if by[k] == nil || by[k].Program == "" || by[k].Host != "lab1" || len(by[k].Data) == 0 || by[k].Interval.Len() < 2*time.Second {
			t.Fatalf("%s: %+v", k, by[k])
		}
	}
	cpu := by[kasoku.ProfileCPU]
	if n, share := worked(cpu, "burnCycles"); n != 1 || cpu.Unit != "nanoseconds" || share < 0.5 {
		t.Errorf("CPU: place %d, %.2f of %+v", n, share, cpu.Functions[:min(5, len(cpu.Functions))])
	}
	if n := rank(by[kasoku.ProfileAllocs], "makeGarbage"); n == 0 || n > 3 {
		t.Errorf("allocations: place %d of %+v", n, by[kasoku.ProfileAllocs].Functions)
	}
	for _, k := range []kasoku.ProfileKind{kasoku.ProfileMutex, kasoku.ProfileBlock} {
		if by[k].Note != "" || rank(by[k], "holdLock") != 1 || by[k].Total == 0 {
			t.Errorf("%s: %+v", k, by[k])
		}
	}
	if g := by[kasoku.ProfileGoroutine]; g.Total < 5 || g.Unit != "count" {
		t.Errorf("goroutines: %+v", g)
	}
	root, err := profile.Tree(cpu)
	if err != nil || root.Value != cpu.Total {
		t.Errorf("tree of %d, want %d: %v", root.Value, cpu.Total, err)
	}
	var folded bytes.Buffer
	if err := profile.WriteFolded(&folded, cpu); err != nil || !strings.Contains(folded.String(), "holdLock;github.com/kasoku/kasoku/observe/profile_test.burnCycles ") {
		t.Errorf("%v\n%s", err, folded.String())
	}
	path := filepath.Join(t.TempDir(), "cpu.pb.gz")
	if err := os.WriteFile(path, cpu.Data, 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command("go", "tool", "pprof", "-top", "-nodecount=3", path).CombinedOutput()
	if err != nil || !strings.Contains(string(out), "burnCycles") {
		t.Errorf("go tool pprof: %v\n%s", err, out)
	}
}

// A program that samples no waits says what would let it; one whose server cuts long
// answers off is asked in short slices.
func TestTakeLimits(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds of CPU")
	}
	got := profile.Take(t.Context(), profile.Options{Address: service(t, "hurried"), CPU: []time.Duration{4 * time.Second}, Now: clock()})
	by := byKind(t, got)
	if len(got.Warnings) > 0 || by[kasoku.ProfileCPU] == nil || rank(by[kasoku.ProfileCPU], "burnCycles") != 1 {
		t.Errorf("%+v %+v", got.Warnings, by[kasoku.ProfileCPU])
	}
	for k, word := range map[kasoku.ProfileKind]string{kasoku.ProfileMutex: "SetMutexProfileFraction", kasoku.ProfileBlock: "SetBlockProfileRate"} {
		if p := by[k]; p == nil || p.Total != 0 || !strings.Contains(p.Note, word) {
			t.Errorf("%s: %+v", k, p)
		}
	}
}

// The end of the load keeps the slices that are complete.
func TestTakeCut(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds of CPU")
	}
	address := service(t, "plain")
	after := func(d time.Duration) <-chan struct{} {
		over := make(chan struct{})
		time.AfterFunc(d, func() { close(over) })
		return over
	}
	got := profile.Take(t.Context(), profile.Options{Address: address, CPU: []time.Duration{time.Second, time.Minute}, Over: after(4 * time.Second), Now: clock()})
	if by := byKind(t, got); by[kasoku.ProfileCPU] == nil || by[kasoku.ProfileHeap] == nil || len(got.Warnings) > 0 {
		t.Errorf("%+v", got)
	}
	got = profile.Take(t.Context(), profile.Options{Address: address, CPU: []time.Duration{time.Minute}, Over: after(500 * time.Millisecond), Now: clock()})
	if by := byKind(t, got); by[kasoku.ProfileCPU] != nil || by[kasoku.ProfileHeap] == nil || len(got.Warnings) != 1 || !strings.Contains(got.Warnings[0].Text, "the load ended") {
		t.Errorf("%+v", got)
	}
}

// Whatever a server answers costs a warning, no more.
func TestTakeFails(t *testing.T) {
	f := func(name string, h http.HandlerFunc, warnings int, want ...string) {
		t.Helper()
		srv := httptest.NewServer(h)
		defer srv.Close()
		address := strings.Replace(srv.URL, "http://", "http://user:pa55@", 1) + "/debug/pprof"
		got := profile.Take(t.Context(), profile.Options{Address: address, CPU: []time.Duration{time.Second}, Now: clock()})
		if len(got.Profiles) > 0 || len(got.Warnings) != warnings {
			t.Errorf("%s: %+v", name, got)
		}
		all := fmt.Sprintf("%+v", got.Warnings)
		for _, w := range want {
			if !strings.Contains(all, w) {
				t.Errorf("%s: no %q in %s", name, w, all)
			}
		}
		if strings.ContainsAny(all, "\x1b\n") || strings.Contains(all, "pa55") {
			t.Errorf("%s: %q", name, all)
		}
	}
	kinds := 5 // one warning each; heap goes with allocations
	f("missing", http.NotFound, kinds, "answered 404 Not Found: 404 page not found", "import net/http/pprof")
	f("colours", func(w http.ResponseWriter, _ *http.Request) {
		http.Error(w, "\x1b[31mno\x07\nmore", http.StatusInternalServerError)
	}, kinds, "[31mno", "only one CPU profile")
	f("rubbish", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "hello") }, kinds, "no profile: malformed")
	f("elsewhere", func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "http://127.0.0.1:1/", http.StatusFound)
	}, kinds, "answered 302")
	f("endless", func(w http.ResponseWriter, r *http.Request) {
		block := make([]byte, 1<<20)
		for range 10 {
			if _, err := w.Write(block); err != nil {
				return
			}
		}
	}, kinds, "more than 8388608 bytes")
	bomb := packed(t, make([]byte, 17<<20))
	f("bomb", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(bomb) }, kinds, "bytes unpacked")
	parts := packed(t, bytes.Repeat([]byte{2<<3 | 2, 0}, 3_000_000))
	f("parts", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(parts) }, kinds, "more than 2000000 parts")

	got := profile.Take(t.Context(), profile.Options{Address: "http://127.0.0.1:1/debug/pprof/", CPU: []time.Duration{time.Second}, Now: clock()})
	if len(got.Warnings) != 1 || !strings.Contains(got.Warnings[0].Text, "no profiles of http://127.0.0.1:1/debug/pprof/: ") {
		t.Errorf("%+v", got)
	}
}

func packed(t testing.TB, raw []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if _, err := z.Write(raw); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestCheck(t *testing.T) {
	for address, ok := range map[string]bool{
		"http://127.0.0.1:6060/debug/pprof/": true, "https://app/x": true, "127.0.0.1:6060": false, "ftp://a/b": false, "http://": false, "\x00": false,
	} {
		if err := profile.Check(address); (err == nil) != ok {
			t.Errorf("%q: %v", address, err)
		}
	}
}

func TestSlices(t *testing.T) {
	f := func(remaining time.Duration, want ...time.Duration) {
		t.Helper()
		if got := profile.Whole(remaining, 10*time.Second); !slices.Equal(got, want) {
			t.Errorf("%v: %v", remaining, got)
		}
	}
	f(time.Minute, 10*time.Second)
	f(3700*time.Millisecond, 3*time.Second)
	f(900 * time.Millisecond)
	f(-time.Second)
}

// made builds a profile of stacks, each outermost function first, with its value.
func made(t testing.TB, stacks map[string]int64) []byte {
	t.Helper()
	p := &pprof.Profile{SampleType: []*pprof.ValueType{{Type: "samples", Unit: "count"}, {Type: "cpu", Unit: "nanoseconds"}}}
	at := map[string]*pprof.Location{}
	for s, v := range stacks {
		sample := &pprof.Sample{Value: []int64{1, v}, Label: map[string][]string{"user": {"s3cret"}},
			NumLabel: map[string][]int64{"card": {4711}}, NumUnit: map[string][]string{"card": {"s3cret"}}}
		for name := range strings.SplitSeq(s, ";") {
			if at[name] == nil {
				id := uint64(len(at) + 1)
				fn := &pprof.Function{ID: id, Name: name, Filename: "/src/" + name}
				p.Function = append(p.Function, fn)
				at[name] = &pprof.Location{ID: id, Line: []pprof.Line{{Function: fn}}}
				p.Location = append(p.Location, at[name])
			}
			sample.Location = slices.Insert(sample.Location, 0, at[name])
		}
		p.Sample = append(p.Sample, sample)
	}
	var b bytes.Buffer
	if err := p.Write(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestTree(t *testing.T) {
	data := made(t, map[string]int64{"main.main;main.f;main.g": 30, "main.main;main.f": 20, "main.main;main.f;main.f": 5, "runtime.gc;a;b\x1b[1m": 10})
	p := &kasoku.Profile{Kind: kasoku.ProfileCPU, Data: data}
	root, err := profile.Tree(p)
	if err != nil || root.Value != 65 || len(root.Children) != 2 || root.Children[0].Name != "main.main" || root.Children[0].Children[0].Own != 20 || root.Children[1].Class != profile.Runtime {
		t.Fatalf("%+v, %v", root, err)
	}
	var b bytes.Buffer
	if err := profile.WriteFolded(&b, p); err != nil {
		t.Fatal(err)
	}
	want := "main.main;main.f 20\nmain.main;main.f;main.g 30\nmain.main;main.f;main.f 5\nruntime.gc;a;b[1m 10\n"
	if b.String() != want {
		t.Errorf("got\n%s", b.String())
	}
	again, err := profile.ReadFolded(want, kasoku.ProfileCPU, "nanoseconds")
	var same bytes.Buffer
	if err != nil || profile.WriteFolded(&same, &again) != nil || same.String() != want || again.Total != 65 {
		t.Errorf("read again: %v\n%s", err, same.String())
	}
	for _, bad := range []string{"a", "a x", " 1", "a -1"} {
		if _, err := profile.ReadFolded(bad, kasoku.ProfileCPU, "nanoseconds"); err == nil {
			t.Errorf("%q is taken", bad)
		}
	}
	read, err := profile.Decode(data)
	if err != nil || strings.Contains(read.String(), "s3cret") || strings.Contains(read.String(), "4711") {
		t.Errorf("labels are kept: %v", err)
	}
}

func TestDiff(t *testing.T) {
	side := func(total int64, fs ...kasoku.ProfileFunction) *kasoku.Profile {
		return &kasoku.Profile{Total: total, Functions: fs}
	}
	got := profile.Diff(side(100, kasoku.ProfileFunction{Name: "a", Flat: 60, Cum: 80}, kasoku.ProfileFunction{Name: "gone", Flat: 10, Cum: 10}),
		side(1000, kasoku.ProfileFunction{Name: "a", Flat: 100, Cum: 900}, kasoku.ProfileFunction{Name: "new", Flat: 300, Cum: 300}))
	if len(got) != 3 || got[0] != (profile.Moved{Name: "a", BeforeFlat: 0.6, AfterFlat: 0.1, BeforeCum: 0.8, AfterCum: 0.9}) || got[1].Name != "new" || got[2].Points() != -0.1 {
		t.Errorf("%+v", got)
	}
	if profile.Diff(&kasoku.Profile{}, &kasoku.Profile{}) != nil {
		t.Error("something of nothing")
	}
}

func TestClassOf(t *testing.T) {
	for name, want := range map[string]profile.Class{
		"main.burn": profile.Own, "github.com/me/app/web.(*S).Serve": profile.Own, "isuumo/app.handler": profile.Own,
		"net/http.(*conn).serve": profile.Library, "encoding/json.Marshal": profile.Library, "golang.org/x/net/http2.f": profile.Library,
		"runtime.mallocgc": profile.Runtime, "internal/runtime/maps.(*Map).Get": profile.Runtime, "0x1234": profile.Runtime, "gogo": profile.Runtime,
		"database/sql.(*DB).query": profile.Database, "github.com/go-sql-driver/mysql.(*mysqlConn).readPacket": profile.Database,
		"slices.SortFunc[go.shape.[]github.com/me/app.Row,x]": profile.Library,
	} {
		if got := profile.ClassOf(name, ""); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
	if profile.ClassOf("github.com/x/y.F", "/home/dev/go/pkg/mod/github.com/x/y@v1.0.0/f.go") != profile.Library {
		t.Error("a module is not the program's own")
	}
	for name, want := range map[string]string{"net/http.(*conn).serve": "http.(*conn).serve", "main.f": "main.f", "a/b.F[go.shape.[]c/d.E]": "b.F[go.shape.[]c/d.E]"} {
		if got := profile.Short(name); got != want {
			t.Errorf("%s: %s", name, got)
		}
	}
}

func FuzzDecode(f *testing.F) {
	data := made(f, map[string]int64{"main.main;main.f": 20, "a": 1})
	f.Add(data)
	z, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		f.Fatal(err)
	}
	var raw bytes.Buffer
	if _, err := raw.ReadFrom(z); err != nil {
		f.Fatal(err)
	}
	f.Add(raw.Bytes())
	f.Add([]byte{2<<3 | 2, 2, 1, 0})
	f.Add([]byte("hello"))
	f.Fuzz(func(t *testing.T, data []byte) {
		p, err := profile.Decode(data)
		if err != nil {
			if p != nil {
				t.Error("a profile with an error")
			}
			return
		}
		for _, k := range kasoku.ProfileKinds() {
			root, err := profile.Tree(&kasoku.Profile{Kind: k, Data: data})
			if err == nil && root.Value < 0 {
				t.Errorf("%s: %d", k, root.Value)
			}
		}
		for _, fn := range p.Function {
			if strings.ContainsAny(fn.Name, "\x1b\n\x00") {
				t.Errorf("%q", fn.Name)
			}
		}
	})
}

func FuzzReadFolded(f *testing.F) {
	f.Add("main.main;main.f 20\na;b c 1\n")
	f.Add("a -1")
	f.Add(" ;; 3\r\n\n;x 0")
	f.Fuzz(func(t *testing.T, text string) {
		p, err := profile.ReadFolded(text, kasoku.ProfileCPU, "nanoseconds")
		if err != nil {
			return
		}
		root, err := profile.Tree(&p)
		if err == nil && root.Value != p.Total {
			t.Errorf("%d in the tree, %d in all", root.Value, p.Total)
		}
		for _, fn := range p.Functions {
			if fn.Flat > fn.Cum || fn.Cum > p.Total {
				t.Errorf("%+v of %d", fn, p.Total)
			}
		}
	})
}

func BenchmarkTree(b *testing.B) {
	stacks := map[string]int64{}
	for i := range 5000 {
		stacks[fmt.Sprintf("main.main;main.serve;main.f%d;main.g%d;main.h%d", i%10, i%100, i)] = int64(i)
	}
	p := &kasoku.Profile{Kind: kasoku.ProfileCPU, Data: made(b, stacks)}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := profile.Tree(p); err != nil {
			b.Fatal(err)
		}
	}
}
