package rowjson

import (
	"bytes"
	"hash/maphash"
	"sync/atomic"
)

// Known are rows in the form in which a server writes them, each with a number
// that whoever checked it gave it. Nothing is ever taken out, so looking up takes
// no lock. It is safe for concurrent use.
type Known struct {
	seed    maphash.Seed
	buckets []atomic.Pointer[knownRow]
	left    atomic.Int64 // bytes that may still be kept
}

// A knownRow is one row of a bucket; it is never changed.
type knownRow struct {
	sum  uint64
	raw  []byte
	row  int32
	next *knownRow
}

const (
	// knownBuckets is above the rows of one table at full size, 40,000.
	knownBuckets = 1 << 16
	// knownBytes keeps each of those in two or three forms, at 500 to 700 bytes each.
	// A server that writes rows anew each time gets no further than that.
	knownBytes = 64 << 20
)

// NewKnown returns a set without rows.
func NewKnown() *Known {
	k := &Known{seed: maphash.MakeSeed(), buckets: make([]atomic.Pointer[knownRow], knownBuckets)}
	k.left.Store(knownBytes)
	return k
}

// Find returns the number of a row that was added with exactly these bytes.
func (k *Known) Find(raw []byte) (row int32, ok bool) {
	sum := maphash.Bytes(k.seed, raw)
	for r := k.buckets[sum%knownBuckets].Load(); r != nil; r = r.next {
		if r.sum == sum && bytes.Equal(r.raw, raw) {
			return r.row, true
		}
	}
	return 0, false
}

// Add adds a row. It copies the bytes. When there are too many it does nothing, so
// that the row is checked anew each time.
func (k *Known) Add(raw []byte, row int32) {
	if k.left.Add(-int64(len(raw))) < 0 {
		return
	}
	sum := maphash.Bytes(k.seed, raw)
	bucket := &k.buckets[sum%knownBuckets]
	added := &knownRow{sum: sum, raw: bytes.Clone(raw), row: row}
	for {
		added.next = bucket.Load()
		if bucket.CompareAndSwap(added.next, added) {
			return
		}
	}
}
