package histogram

import (
	"math/bits"
	"unsafe"
)

// anExact stands for the form of an encoding that is exact.
var anExact exact

// mergeEncoded adds all durations of an encoding that AppendBinary wrote, or that was checked: what comes of it is
// what Merge of the decoded histogram makes, without making that one.
func (h *Histogram) mergeEncoded(text string) {
	b := unsafe.Slice(unsafe.StringData(text), len(text)) // only read
	if len(b) == 0 || b[0] != versionExact {
		var one Histogram
		if one.decode(b) == nil {
			h.Merge(&one)
		}
		return
	}
	d := decoder{b: b[1:]}
	unit := d.uvarint()
	h.takeForm(&Histogram{unit: unit, exact: &anExact})
	d.counts(exactMultiples, func(q uint, n uint64) {
		v := uint64(q) * unit
		hi, lo := bits.Mul64(v, n)
		h.addTotals(n, hi, lo, v, v)
		h.addValue(v, n)
	})
}

// checkEncoded returns the error that decoding would return, mostly without making the histogram.
func checkEncoded(b []byte) error {
	if len(b) > 0 && b[0] == versionExact {
		d := decoder{b: b[1:]}
		unit := d.uvarint()
		pages, top := uint64(0), uint64(0)
		d.counts(exactMultiples, func(q uint, n uint64) {
			pages += 1 + uint64(bits.Len64(n)-1)/8 // a page of its own, and one for each carry
			top = uint64(q)
		})
		// Half of the memory leaves room for what tables are made longer by.
		fits := pages*exactPage+(top>>pageBits+1)*exactEntry <= exactBytes/2
		if d.err == nil && len(d.b) == 0 && unit > 0 && unit <= uint64(maxUnit) && fits {
			return nil
		}
	}
	var h Histogram
	return h.UnmarshalBinary(b)
}
