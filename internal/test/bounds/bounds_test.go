package bounds

import (
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/kasoku/kasoku/internal/test/turn"
)

// common are pieces that every parser is fed: blank lines, one endless line, deep
// nesting, unclosed quotes, many tiny records, many distinct keys, a long name.
var common = []string{"\n", " ", "x", "\x00", "\xff", "(", "[", "{", "\"", "'", "\\", "a,", "a=1 ", "a%d\n", "\t", "\r\n"}

// size returns n; ten times that is the large input. `make attack` takes ten times as
// much, at which what is quadratic without allocating meets the deadline; run files, whose
// texts stand hundreds of times, are large without that. Less than this is no measure: a
// table that grows once for the large input is more than the ratio.
func (r *row) size() int {
	if r.copies > 0 {
		return 10_000 / min(r.copies, 10)
	}
	if os.Getenv("KASOKU_ATTACK") == "1" {
		return 100_000
	}
	return 10_000
}

// What ten times the input may take. Growing slices and maps, buffers of a fixed size and
// pools that are filled anew are no multiple of what the small input takes: for those are
// the bytes by input byte.
const (
	mostRatio   = 12
	mostBuffers = 128
	mostPerByte = 4000 // allocated by input byte, in all
	deadline    = time.Minute
)

// build repeats a piece of the row until there are n bytes.
func (r *row) build(piece string, n int) []byte {
	b := make([]byte, 0, n+len(r.start)+len(r.end)+len(piece)+20)
	b = append(b, r.start...)
	parts := strings.Split(piece, "%d")
	for i := 0; len(b) < n; i++ {
		b = append(b, parts[0]...)
		for _, p := range parts[1:] {
			b = strconv.AppendInt(b, int64(i), 10)
			b = append(b, p...)
		}
	}
	return append(b, r.end...)
}

// allocated returns how many bytes the parser allocates.
func (r *row) allocated(in []byte) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	r.read(in)
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// checkPiece feeds the parser n and 10 n bytes.
func (r *row) checkPiece(t *testing.T, piece string) {
	t.Helper()
	copies := max(r.copies, 1)
	n := r.size()
	small, large := r.build(piece, n), r.build(piece, 10*n)
	defer endOverdue(r.name + ": no end of " + strconv.Quote(piece))()
	r.read(r.build(piece, 100)) // what is made once
	one, ten := r.allocated(small), r.allocated(large)
	if most := mostRatio*one + uint64(mostBuffers*len(large)*max(copies/10, 1)); ten > most {
		t.Errorf("%s: %q: %d bytes are allocated for %d, and %d for %d", r.name, piece, one, len(small), ten, len(large))
	}
	if ten > uint64(mostPerByte*copies*len(large)) {
		t.Errorf("%s: %q: %d bytes are allocated for %d", r.name, piece, ten, len(large))
	}
}

// endOverdue ends the tests when the process has used more CPU than deadline before stop is
// called. CPU, not time: the machine may be busy with something else.
func endOverdue(why string) (stop func()) {
	begin, done := cpuTime(), make(chan struct{})
	go func() {
		tick := time.NewTicker(time.Second)
		defer tick.Stop()
		for {
			select {
			case <-done:
				return
			case <-tick.C:
				if cpuTime()-begin > deadline {
					panic(why)
				}
			}
		}
	}()
	return func() { close(done) }
}

// cpuTime is what this process has used.
func cpuTime() time.Duration {
	var u unix.Rusage
	if unix.Getrusage(unix.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// TestBounds: ten times the input takes about ten times as much. The rows do not run side
// by side: what is allocated is counted for the process. But in `make attack` a parser is fed
// the pieces of its own format alone.
func TestBounds(t *testing.T) {
	for i := range rows {
		r := &rows[i]
		t.Run(r.name, func(t *testing.T) {
			turn.Wait(t)
			if r.copies > 0 && testing.Short() {
				t.Skip("writes run files")
			}
			pieces := r.pieces
			if r.copies == 0 && (os.Getenv("KASOKU_ATTACK") == "1" || len(pieces) == 0) {
				pieces = slices.Concat(common, pieces)
			}
			for _, piece := range pieces {
				r.checkPiece(t, piece)
			}
		})
	}
}
