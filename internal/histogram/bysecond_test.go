package histogram

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

// keptApart is a BySecond as it is easiest: a histogram for each second.
type keptApart map[int64]*Histogram

func (k keptApart) record(second int64, d time.Duration) {
	if k[second] == nil {
		k[second] = NewExact(time.Millisecond)
	}
	k[second].Record(d)
}

// between adds up the seconds from <= s < to.
func (k keptApart) between(from, to int64) *Histogram {
	sum := New()
	for _, s := range slices.Sorted(func(yield func(int64) bool) {
		for s := range k {
			if s >= from && s < to && !yield(s) {
				return
			}
		}
	}) {
		sum.Merge(k[s])
	}
	return sum
}

// TestBySecond: whatever the order, any part of the seconds has the durations of a histogram for each, after it was
// merged of two and after it was encoded and read.
func TestBySecond(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	for range 60 {
		var parts [2]BySecond
		all, made := keptApart{}, map[int64]bool{}
		for range rnd.IntN(400) {
			second, d := rnd.Int64N(30)-3, time.Duration(rnd.Int64N(int64(3*time.Second)))
			if rnd.IntN(2) == 0 {
				d = d.Truncate(time.Millisecond)
			}
			parts[rnd.IntN(2)].Record(second, d)
			all.record(second, d)
			made[second] = true
		}
		whole := parts[0].Clone()
		whole.Merge(&parts[1])
		text, _ := whole.MarshalBinary()
		var read BySecond
		if err := read.UnmarshalBinary(text); err != nil {
			t.Fatal(err)
		}
		if read.Len() != len(made) {
			t.Fatalf("%d seconds of %d", read.Len(), len(made))
		}
		for range 20 {
			from, to := rnd.Int64N(34)-4, rnd.Int64N(34)-4
			want, _ := all.between(from, to).MarshalBinary()
			sum := read.Between(from, to)
			got, _ := sum.MarshalBinary()
			if !bytes.Equal(got, want) {
				t.Fatalf("%d to %d: %s, want %s", from, to, sum.Sum(), all.between(from, to).Sum())
			}
			later := read.Shifted(100).Between(from+100, to+100)
			if got, _ := later.MarshalBinary(); !bytes.Equal(got, want) {
				t.Fatalf("%d to %d, 100 s later: %s", from, to, later.Sum())
			}
		}
	}
}

// TestBySecond_Copies: what was copied or merged stays as it was when its origin goes on.
func TestBySecond_Copies(t *testing.T) {
	var a, b BySecond
	a.Record(1, time.Second)
	b.Record(1, 2*time.Second)
	b.Record(2, 3*time.Second)
	copied := a.Clone()
	a.Merge(&b)
	a.Record(1, time.Hour)
	b.Record(2, time.Hour)
	for what, tt := range map[string]struct {
		of  *BySecond
		sum time.Duration
	}{"the copy": {copied, time.Second}, "the sum": {&a, time.Hour + 6*time.Second},
		"what was merged": {&b, time.Hour + 5*time.Second}} {
		if sum := tt.of.Between(0, 10); sum.Sum() != tt.sum {
			t.Errorf("%s: %s, want %s", what, sum.Sum(), tt.sum)
		}
	}
	if (*BySecond)(nil).Shifted(1) != nil {
		t.Error("nothing became something")
	}
}

// FuzzBySecond: bytes that are refused leave nothing; bytes that are not come out as they were.
func FuzzBySecond(f *testing.F) {
	var b BySecond
	b.Record(-1, time.Second)
	b.Record(7, 1500*time.Microsecond)
	text, _ := b.MarshalBinary()
	f.Add(text)
	f.Add([]byte{0})
	f.Add([]byte{2, 1, 2, 1, 0, 0, 2, 1, 0})
	f.Fuzz(func(t *testing.T, text []byte) {
		var b BySecond
		if err := b.UnmarshalBinary(text); err != nil {
			if b.Len() != 0 {
				t.Fatalf("%d seconds beside %v", b.Len(), err)
			}
			return
		}
		all := b.Between(-1<<62, 1<<62)
		again, _ := b.MarshalBinary()
		var second BySecond
		if err := second.UnmarshalBinary(again); err != nil {
			t.Fatalf("what was written is refused: %v", err)
		}
		if sum := second.Between(-1<<62, 1<<62); sum.Count() != all.Count() || sum.Sum() != all.Sum() {
			t.Fatalf("%d durations of %d", sum.Count(), all.Count())
		}
	})
}

// BenchmarkBySecond records in the order of time, a hundred durations a second.
func BenchmarkBySecond(b *testing.B) {
	var s BySecond
	for i := range b.N {
		s.Record(int64(i/100), time.Duration(i%50)*time.Millisecond)
	}
	b.ReportMetric(float64(s.Len()), "seconds")
}

// FuzzEncoded: what is merged and checked without decoding is what decoding gives.
func FuzzEncoded(f *testing.F) {
	ms := NewExact(time.Millisecond)
	for i := range 700 {
		ms.RecordN(time.Duration(i*i)*time.Millisecond, uint64(1+i%300))
	}
	for _, h := range []*Histogram{New(), NewExact(time.Millisecond), ms} {
		h.Record(3 * time.Millisecond)
		text, _ := h.MarshalBinary()
		f.Add(text)
	}
	f.Add([]byte{versionExact, 1})
	f.Fuzz(func(t *testing.T, text []byte) {
		var h Histogram
		wrong := h.UnmarshalBinary(text)
		if err := checkEncoded(text); (err == nil) != (wrong == nil) {
			t.Fatalf("checked: %v; decoded: %v", err, wrong)
		}
		if wrong != nil {
			return
		}
		for _, base := range []*Histogram{New(), NewExact(time.Millisecond), NewExact(time.Second)} {
			base.Record(2 * time.Second)
			want := base.Clone()
			want.Merge(&h)
			base.mergeEncoded(string(text))
			a, _ := want.MarshalBinary()
			b, _ := base.MarshalBinary()
			if string(a) != string(b) {
				t.Fatalf("merged %d durations of %v, want %d of %v", base.Count(), base.Sum(), want.Count(), want.Sum())
			}
		}
	})
}

// TestBySecond_Blocks: a long stretch of what was read, which is added up by blocks, is what its seconds are, and
// seconds that are recorded afterwards count.
func TestBySecond_Blocks(t *testing.T) {
	rnd := rand.New(rand.NewPCG(5, 6))
	var recorded BySecond
	for s := range int64(1000) {
		if rnd.IntN(10) == 0 {
			continue
		}
		for range 1 + rnd.IntN(5) {
			recorded.Record(s, time.Duration(rnd.IntN(400))*time.Millisecond)
		}
	}
	text, _ := recorded.MarshalBinary()
	var read BySecond
	if err := read.UnmarshalBinary(text); err != nil {
		t.Fatal(err)
	}
	for range 300 {
		from, to := rnd.Int64N(1000), rnd.Int64N(1100)
		a, _ := recorded.Between(from, to).MarshalBinary()
		b, _ := read.Between(from, to).MarshalBinary()
		if string(a) != string(b) {
			t.Fatalf("%d to %d: %d durations, want %d", from, to, read.Between(from, to).Count(),
				recorded.Between(from, to).Count())
		}
	}
	before := read.Between(0, 1000).Count()
	read.Record(3, time.Second)
	if after := read.Between(0, 1000).Count(); after != before+1 {
		t.Errorf("%d durations after one more than %d", after, before)
	}
}
