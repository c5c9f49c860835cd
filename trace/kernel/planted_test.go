package kernel

import (
	"slices"
	"strings"
	"testing"

	"github.com/kasoku/kasoku/internal/contain"
)

// TestPlantedLoading: a panic while programs are loaded is an error that names no program as
// loaded, and leaves none in the kernel.
func TestPlantedLoading(t *testing.T) {
	before := ours(t)
	defer contain.Forget()
	remove := contain.Plant(contain.Part{Kind: contain.Goroutine, Name: "loading of a program"})
	s, err := Open(false)
	remove()
	if err == nil {
		t.Fatalf("opened, %v", s.Close())
	}
	if !strings.Contains(err.Error(), "it did not end") {
		t.Error(err)
	}
	if left := slices.DeleteFunc(ours(t), func(p string) bool { return slices.Contains(before, p) }); len(left) > 0 {
		t.Errorf("%q are left", left)
	}
	if s, err = Open(false); err != nil { // afterwards all is as ever
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}
