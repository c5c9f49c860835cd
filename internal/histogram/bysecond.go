package histogram

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"
)

// A BySecond counts durations by the second in which they ended. The zero value is empty and ready to use.
//
// Each second is kept in its encoding, but the one that was added to last: a second of ten requests
// takes some 30 bytes and no page. Whoever adds in the order of time, more or less, pays for one
// encoding a second.
//
// Its methods that read may run concurrently with each other only after Pack.
type BySecond struct {
	seconds []int64
	packed  []string
	open    *Histogram // of seconds[last], nil when all are packed
	last    int
	sums    *sums // of one that was read; nil of one that is recorded into
}

// block is how many seconds are summed up for long stretches.
const block = 64

// sums are encoded sums of each block of seconds, made when a long stretch is asked for first.
type sums struct {
	once sync.Once
	text []string
}

// blocks returns the sums of blocks; none where seconds may still be added.
func (b *BySecond) blocks() []string {
	if b.sums == nil {
		return nil
	}
	b.sums.once.Do(func() {
		for at := 0; at+block <= len(b.packed); at += block {
			sum := New()
			for _, one := range b.packed[at : at+block] {
				sum.mergeEncoded(one)
			}
			text, _ := sum.MarshalBinary() // it never fails
			b.sums.text = append(b.sums.text, string(text))
		}
	})
	return b.sums.text
}

// Len returns how many seconds have durations.
func (b *BySecond) Len() int { return len(b.seconds) }

// Record adds a duration of a second, and reports whether it is the first one there. Durations of which all are
// multiples of a millisecond stay exact.
func (b *BySecond) Record(second int64, d time.Duration) (first bool) {
	if b.open == nil || b.seconds[b.last] != second {
		first = b.turn(second)
	}
	b.open.Record(d)
	return first
}

// turn opens a second, which is made if need be.
func (b *BySecond) turn(second int64) (made bool) {
	b.Pack()
	b.sums = nil
	i, found := len(b.seconds), false
	if i > 0 && second <= b.seconds[i-1] {
		i, found = slices.BinarySearch(b.seconds, second)
	}
	b.last, b.open = i, NewExact(time.Millisecond)
	if !found {
		b.seconds, b.packed = slices.Insert(b.seconds, i, second), slices.Insert(b.packed, i, "")
		return true
	}
	_ = b.open.UnmarshalBinary([]byte(b.packed[i])) // it was encoded by Pack
	return false
}

// Pack encodes the second that was added to last.
func (b *BySecond) Pack() {
	if b.open == nil {
		return
	}
	text, _ := b.open.MarshalBinary() // it never fails
	b.packed[b.last], b.open = string(text), nil
}

// Merge adds all durations of o, which stays as it is but for being packed. What was copied from b before is left
// as it was.
func (b *BySecond) Merge(o *BySecond) {
	b.Pack()
	o.Pack()
	var out BySecond
	for i, k := 0, 0; i < len(b.seconds) || k < len(o.seconds); {
		switch {
		case k == len(o.seconds) || i < len(b.seconds) && b.seconds[i] < o.seconds[k]:
			out.seconds, out.packed = append(out.seconds, b.seconds[i]), append(out.packed, b.packed[i])
			i++
		case i == len(b.seconds) || o.seconds[k] < b.seconds[i]:
			out.seconds, out.packed = append(out.seconds, o.seconds[k]), append(out.packed, o.packed[k])
			k++
		default:
			var both, other Histogram
			_ = both.UnmarshalBinary([]byte(b.packed[i])) // both were encoded by Pack, or read
			_ = other.UnmarshalBinary([]byte(o.packed[k]))
			both.Merge(&other)
			text, _ := both.MarshalBinary()
			out.seconds, out.packed = append(out.seconds, b.seconds[i]), append(out.packed, string(text))
			i, k = i+1, k+1
		}
	}
	*b = out
}

// Clone returns a copy, which shares nothing with b that changes. b is packed.
func (b *BySecond) Clone() *BySecond {
	b.Pack()
	return &BySecond{seconds: slices.Clone(b.seconds), packed: slices.Clone(b.packed)}
}

// Shifted returns a copy in which all seconds are later, of nil nil. b is packed.
func (b *BySecond) Shifted(by int64) *BySecond {
	if b == nil {
		return nil
	}
	out := b.Clone()
	for i := range out.seconds {
		out.seconds[i] += by
	}
	return out
}

// Between returns the durations of the seconds from <= s < to as one histogram. b is packed.
func (b *BySecond) Between(from, to int64) *Histogram {
	b.Pack()
	lo, _ := slices.BinarySearch(b.seconds, from)
	hi, _ := slices.BinarySearch(b.seconds, to)
	hi = max(lo, hi)
	sum := New()
	var blocks []string
	if hi-lo >= 2*block {
		blocks = b.blocks()
	}
	for i := lo; i < hi; {
		if k := i / block; i%block == 0 && i+block <= hi && k < len(blocks) {
			sum.mergeEncoded(blocks[k])
			i += block
			continue
		}
		sum.mergeEncoded(b.packed[i])
		i++
	}
	return sum
}

// Each calls f for each second that has durations, in the order of time. b is packed; what f gets is its own.
func (b *BySecond) Each(f func(second int64, h *Histogram)) {
	b.Pack()
	for i, s := range b.seconds {
		h := New()
		h.mergeEncoded(b.packed[i])
		f(s, h)
	}
}

// The encoding: the number of seconds; then for each, by time, how many seconds after the one before it (the first:
// after 0, zigzag), the length of its histogram and the histogram. All numbers are varints.

// AppendBinary appends the encoding to dst; it never fails. b is packed.
func (b *BySecond) AppendBinary(dst []byte) ([]byte, error) {
	b.Pack()
	dst = binary.AppendUvarint(dst, uint64(len(b.seconds)))
	for i, s := range b.seconds {
		if i == 0 {
			dst = binary.AppendVarint(dst, s)
		} else {
			dst = binary.AppendUvarint(dst, uint64(s-b.seconds[i-1]))
		}
		dst = binary.AppendUvarint(dst, uint64(len(b.packed[i])))
		dst = append(dst, b.packed[i]...)
	}
	return dst, nil
}

// MarshalBinary returns the encoding, for [encoding.BinaryMarshaler].
func (b *BySecond) MarshalBinary() ([]byte, error) { return b.AppendBinary(nil) }

var errSeconds = errors.New("histogram: the seconds are cut off or not in order")

// UnmarshalBinary replaces b by what was encoded. It holds no more memory than the bytes take, eight times over.
// Each second's histogram is looked at, so that those who read find none that is broken.
func (b *BySecond) UnmarshalBinary(text []byte) error {
	*b = BySecond{}
	many, n := binary.Uvarint(text)
	if n <= 0 || many > uint64(len(text)) {
		return errSeconds
	}
	text = text[n:]
	var out BySecond
	at := int64(0)
	for i := range many {
		step, n := int64(0), 0
		if i == 0 {
			step, n = binary.Varint(text)
		} else {
			var u uint64
			u, n = binary.Uvarint(text)
			step = int64(u)
			if step <= 0 {
				return errSeconds
			}
		}
		if n <= 0 || at+step < at && i > 0 {
			return errSeconds
		}
		at, text = at+step, text[n:]
		long, n := binary.Uvarint(text)
		if n <= 0 || long > uint64(len(text)-n) {
			return errSeconds
		}
		one := text[n : n+int(long)]
		if err := checkEncoded(one); err != nil {
			return fmt.Errorf("second %d: %w", at, err)
		}
		out.seconds, out.packed = append(out.seconds, at), append(out.packed, string(one))
		text = text[n+int(long):]
	}
	if len(text) > 0 {
		return errSeconds
	}
	out.sums = &sums{}
	*b = out
	return nil
}
