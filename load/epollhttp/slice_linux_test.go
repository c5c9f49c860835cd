//go:build amd64 || arm64

package epollhttp

import (
	"runtime"
	"testing"
	"time"
)

// TestSliceIsPutBack: a thread goes back to the runtime as it was.
func TestSliceIsPutBack(t *testing.T) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	first := setSlice(shortSlice)
	if first == 0 {
		t.Log("the kernel does not report slices; before 6.12 there are none")
	}
	f := func(set, want time.Duration) {
		t.Helper()
		if first == 0 {
			want = 0
		}
		if got := setSlice(set); got != want {
			t.Errorf("the slice was %s, want %s", got, want)
		}
	}
	f(first, shortSlice)
	f(first, first)
}
