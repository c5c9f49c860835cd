package routes

import (
	"testing"
)

// benchPaths are the paths of a real benchmark, in its proportions.
var benchPaths = []string{
	"/api/condition/f25f5b39-50a4-429e-b919-266c640f1f1d", "/api/condition/f25f5b39-50a4-429e-b919-266c640f1f1d",
	"/api/isu/bdb2a3f0-c90a-4610-b7f5-f4e31fecf12d/icon", "/api/condition/88ea1dba-f4a1-4bbb-bf36-4f77eace01c2?end_time=1629507600&condition_level=info",
	"/api/trend", "/api/isu", "/api/user/me", "/users/123/posts/4567?page=2", "/assets/index.4b6e2f1a.js", "/files/d9720f1accded79ea759004ff658638f",
}

func bytesOf(list []string) (out [][]byte) {
	for _, s := range list {
		out = append(out, []byte(s))
	}
	return out
}

func BenchmarkAppend(b *testing.B) {
	m := mapper(b, Options{})
	paths := bytesOf(benchPaths)
	get := []byte("GET")
	var buf []byte
	b.ReportAllocs()
	for b.Loop() {
		for _, p := range paths {
			buf, _ = m.Append(buf[:0], get, p)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(paths)), "ns/path")
}

func TestAppend_Allocs(t *testing.T) {
	routes, err := parseList("/users/{id}/posts/{post:[0-9]+}\n/files/*\n")
	if err != nil {
		t.Fatal(err)
	}
	paths := bytesOf(benchPaths)
	for _, o := range []Options{{}, {Keep: []string{"page", "end_time=*"}}, {Routes: routes}, {Patterns: []string{"^/api/isu/[^/]+/icon$"}}} {
		m := mapper(t, o)
		buf := make([]byte, 0, 1024)
		if n := testing.AllocsPerRun(100, func() {
			for _, p := range paths {
				buf, _ = m.Append(buf[:0], nil, p)
			}
		}); n != 0 {
			t.Errorf("%+v: %v allocations", o, n)
		}
	}
}
