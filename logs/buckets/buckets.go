// Package buckets computes the statistics of pt-query-digest, to the digit it
// prints: 95th percentile, standard deviation and median of the times, rows and
// bytes of a class of statements.
//
// The one idea: a value is kept as the number of its bucket. There are 1,000,
// each 5 % wider than the one before, the first from 1e-6 on; what is less is in
// bucket 0. [Stats] counts values per bucket, in memory that grows with how far
// the values spread, and derives the figures from the lower ends of the buckets.
// They are therefore up to 5 % too small: use package histogram where the
// figures are not compared with pt-query-digest.
//
// Values are plain numbers: seconds, rows, bytes. The package is hot: adding a
// value takes a few nanoseconds and, once a class has seen its buckets, no memory.
//
// The rules are those that pt-query-digest 3.2.1 shows from the outside, with
// logs made for the purpose (compat/ptquerydigest compares the two in its tests).
package buckets

import "math"

// Number is how many buckets there are.
const Number = 1000

const (
	least = 1e-6 // lower end of bucket 1
	base  = 1.05 // width of a bucket: its upper end divided by its lower end

	// A cell is a thirty-second of a power of two, found in the bits of a
	// float64. It is narrower than a bucket, so that at most one bucket begins in it.
	cellShift = 52 - 5
	firstCell = (1023 - 20) << 5 // of 2^-20, just below 1e-6
	cells     = 71 << 5          // up to 2^51, beyond the lower end of the last bucket
)

// tables are what Index and Value look up.
type tables struct {
	value [Number]float64     // lower ends as pt-query-digest reckons them
	from  [Number + 1]float64 // least float64 that belongs to the bucket
	cell  [cells]uint16       // bucket of the least value of each cell
}

var table = makeTables()

// offset is the index of 1 as a real number: 284.1617969.
var (
	logBase = math.Log(base)
	offset  = 1 - math.Log(least)/logBase
)

// makeTables works out the tables. It takes a tenth of a millisecond.
func makeTables() *tables {
	t := new(tables)
	high, low := 1.0, 0.0 // base^(i-1), as the sum of two floats: math.Pow is off by a bit now and then
	for i := 1; i < Number; i++ {
		t.value[i] = high * least
		product := high * base
		rest := math.FMA(high, base, -product) + low*base
		high = product + rest
		low = rest - (high - product)
		t.from[i] = firstOf(i, t.value[i])
	}
	t.from[Number] = math.Inf(1)
	b := 0
	for c := range t.cell {
		v := math.Float64frombits(uint64(firstCell+c) << cellShift)
		for b+1 < Number && t.from[b+1] <= v {
			b++
		}
		t.cell[c] = uint16(b)
	}
	return t
}

// firstOf returns the least float64 whose logarithm leads to bucket i, near v.
func firstOf(i int, v float64) float64 {
	for slowIndex(v) >= i && v > least {
		v = math.Nextafter(v, 0)
	}
	for slowIndex(v) < i {
		v = math.Nextafter(v, math.Inf(1))
	}
	return v
}

// slowIndex is the definition of Index.
func slowIndex(v float64) int {
	if !(v >= least) {
		return 0
	}
	return min(int(offset+math.Log(v)/logBase), Number-1)
}

// Index returns the bucket of a value: int(284.1617969 + ln v / ln 1.05) and not
// more than 999, and 0 for what is less than 1e-6 or no number.
func Index(v float64) int {
	if !(v >= least) {
		return 0
	}
	c := math.Float64bits(v)>>cellShift - firstCell
	if c >= cells {
		return Number - 1
	}
	i := int(table.cell[c])
	if v >= table.from[i+1] {
		i++
	}
	return i
}

// Value returns the value that stands for a bucket, its lower end: 0 for bucket
// 0 and 1.05^(i-1) × 1e-6 for the others.
func Value(i int) float64 { return table.value[i] }
