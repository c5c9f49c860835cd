package kernel

import (
	"os"
	"testing"

	"github.com/cilium/ebpf/btf"
)

// TestKernelTypes: what one pass over the kernel's types finds is what the library finds in them.
func TestKernelTypes(t *testing.T) {
	got, err := readKernelTypes()
	if err != nil {
		t.Fatal(err)
	}
	want, err := btf.LoadKernelSpec()
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range neededPoints {
		var typ *btf.Typedef
		if err := want.TypeByName("btf_trace_"+p, &typ); err != nil {
			t.Fatal(err)
		}
		if id, err := want.TypeID(typ); err != nil || uint32(id) != got.points[p] {
			t.Errorf("%s: %d, want %d, %v", p, got.points[p], id, err)
		}
	}
	for _, f := range neededFields {
		var typ *btf.Struct
		if err := want.TypeByName(f.structure, &typ); err != nil {
			t.Fatal(err)
		}
		at, err := got.place(f)
		found := false
		for _, m := range typ.Members {
			if found = m.Name == f.member; found {
				if err != nil || uint32(at) != m.Offset.Bytes() {
					t.Errorf("%s.%s: %d, want %d, %v", f.structure, f.member, at, m.Offset.Bytes(), err)
				}
				break
			}
		}
		if !found {
			t.Errorf("the library finds no %s.%s", f.structure, f.member)
		}
	}
	if _, err := got.place(structField{"task_struct", "no_member"}); err == nil {
		t.Error("a member that there is not has a place")
	}
}

// TestFindTypes_Cut: types that end too early, or are none, are an error.
func TestFindTypes_Cut(t *testing.T) {
	raw, err := os.ReadFile(typesFile)
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range []int{0, 1, 23, 24, 25, 1000, len(raw) / 2} {
		if found, err := findTypes(raw[:n]); err == nil {
			t.Errorf("%d bytes have %v", n, found.points)
		}
	}
	other := append([]byte(nil), raw[:4096]...)
	for i := 24; i < len(other); i++ {
		other[i] = 0xff
	}
	if _, err := findTypes(other); err == nil {
		t.Error("no error for types of an unknown kind")
	}
}

// BenchmarkOpen is how long it takes to attach, and to detach.
func BenchmarkOpen(b *testing.B) {
	for b.Loop() {
		s, err := Open(true)
		if err != nil {
			b.Fatal(err)
		}
		b.StopTimer()
		if err := s.Close(); err != nil {
			b.Fatal(err)
		}
		b.StartTimer()
	}
}
