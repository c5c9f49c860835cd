package accesslog

import (
	"cmp"
	"math"
	"math/bits"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/logs/accessformat"
)

// A detail is what a row holds beside its sums with Options.Detail.
type detail struct {
	connects, connectCount uint64
	maxRequest             uint64
	botsPassed             uint64
	botsUpstream           uint64 // ns
	varied, variants       uint64
	again                  refetch
	uris, paths            estimate // of different ones
	keys                   keySets
}

// pathRegisters are the registers of an estimate: its standard error is 1.04/√256, 6.5 %.
//
// Source: Flajolet, Fusy, Gandouet, Meunier, "HyperLogLog", 2007; below 2.5 times
// the registers it counts those that are empty, as they say.
const pathRegisters = 256

// estimate counts different things by their hashes: HyperLogLog.
type estimate [pathRegisters]uint8

// see adds a hash to the estimate.
func (d *estimate) see(hash uint64) {
	rank := uint8(bits.LeadingZeros64(hash<<8|1<<7) + 1)
	if r := &d[hash>>56]; rank > *r {
		*r = rank
	}
}

// merge adds what another estimate saw.
func (d *estimate) merge(o *estimate) {
	for i, r := range o {
		d[i] = max(d[i], r)
	}
}

// count estimates how many there were.
func (d *estimate) count() uint64 {
	var sum float64
	empty := 0
	for _, r := range d {
		sum += math.Ldexp(1, -int(r))
		if r == 0 {
			empty++
		}
	}
	const m = float64(pathRegisters)
	n := 0.7213 / (1 + 1.079/m) * m * m / sum
	if n <= 2.5*m && empty > 0 {
		n = m * math.Log(m/float64(empty))
	}
	return uint64(math.Round(n))
}

// mergeDetail adds the detail of another row, which may have none.
func (w *row) mergeDetail(o *detail) {
	if o == nil {
		return
	}
	if w.detail == nil {
		w.detail = &detail{}
	} else {
		d := *w.detail // a row that was copied shares it
		w.detail = &d
	}
	d := w.detail
	d.connects += o.connects
	d.connectCount += o.connectCount
	d.maxRequest = max(d.maxRequest, o.maxRequest)
	d.botsPassed += o.botsPassed
	d.botsUpstream += o.botsUpstream
	d.varied += o.varied
	d.variants += o.variants
	d.again.add(o.again)
	d.uris.merge(&o.uris)
	d.paths.merge(&o.paths)
	d.keys.merge(&o.keys)
}

// fill puts the detail into an endpoint. A row without any leaves it as it is.
func (d *detail) fill(e *kasoku.Endpoint) {
	if d == nil {
		return
	}
	e.Connects, e.ConnectCount, e.MaxRequestBytes = d.connects, d.connectCount, d.maxRequest
	e.BotsPassed, e.BotsUpstream = d.botsPassed, time.Duration(min(d.botsUpstream, math.MaxInt64))
	e.Paths, e.Varied, e.Variants = d.uris.count(), d.varied, d.variants
}

// uriSlots is how many URIs are followed at once, a power of two. Where two meet
// in a slot the later one takes it, so that a log of more URIs counts a few
// variants too many and never needs more memory: 1.3 MB.
const uriSlots = 1 << 14

// uriSizes is how many sizes of one URI in one second are distinguished.
const uriSizes = 6

// uris is what the last answers of URIs were like.
type uris struct {
	slots []uriSlot
	kept  kept
	names queryNames
}

type uriSlot struct {
	hash   uint64 // of method and URI; 0: free
	second int64
	last   uint64 // size of the last answer
	sizes  [uriSizes]uint64
	n      int // sizes of the second, more than fit are written over
}

// add adds a record to the detail of its row.
func (u *uris) add(w *row, r *accessformat.Record, t *Table) {
	if w.detail == nil {
		w.detail = &detail{}
	}
	d := w.detail
	if r.Has&accessformat.HasConnect != 0 {
		d.connectCount++
		if r.Connect > 0 {
			d.connects++
		}
	}
	d.maxRequest = max(d.maxRequest, r.RequestBytes)
	if bot, name := t.bots.named(r.UserAgent); bot {
		one := kasoku.NamedBot{Name: name, Requests: 1}
		if r.Has&accessformat.HasUpstream != 0 {
			d.botsPassed++
			d.botsUpstream += uint64(max(r.Upstream, 0))
			one.Passed = 1
		}
		t.named.count(one)
	}
	if len(r.Path) == 0 {
		return
	}
	hash, path := hashURI(r.Method, r.Path)
	d.uris.see(hash)
	d.paths.see(path)
	keys, apart, plain := u.names.of(r.Path)
	d.keys.ask(keys, apart, plain, uint64(max(r.Latency, 0)))
	u.kept.answer(&d.again, hash, r)
	if r.Status == 200 && r.Has&(accessformat.HasBytes|accessformat.HasTime) == accessformat.HasBytes|accessformat.HasTime {
		u.answer(d, hash, r)
	}
}

// answer looks at an answer 200 beside those before it of the same URI.
func (u *uris) answer(d *detail, hash uint64, r *accessformat.Record) {
	if u.slots == nil {
		u.slots = make([]uriSlot, uriSlots)
	}
	s := &u.slots[hash&(uriSlots-1)]
	second := floorDiv(r.Unix, int64(time.Second))
	switch {
	case s.hash != hash:
		*s = uriSlot{hash: hash, second: second}
	case !sameSize(s.last, r.Bytes):
		d.varied++
	}
	s.last = r.Bytes
	if s.second != second {
		s.second, s.n = second, 0
	}
	for _, size := range s.sizes[:min(s.n, uriSizes)] {
		if sameSize(size, r.Bytes) {
			return
		}
	}
	s.sizes[s.n%uriSizes] = r.Bytes
	s.n++
	d.variants++
}

// framedBytes is the size from which an answer may be sent in several chunks.
const framedBytes = 4 << 10

// sameSize reports whether two answers may have the same content. nginx counts the
// frames of chunks, and in how many of them an answer comes depends on the moment:
// some bytes for every 4 kB.
func sameSize(a, b uint64) bool {
	if a > b {
		a, b = b, a
	}
	return a == b || a >= framedBytes && b-a <= a>>8
}

// hashURI is FNV-1a of method and URI, and of method and path, with the bits mixed. It has no
// seed, so that results are repeatable.
func hashURI(method, uri []byte) (hash, path uint64) {
	h := uint64(14695981039346656037)
	for _, b := range method {
		h = (h ^ uint64(b)) * 1099511628211
	}
	h = (h ^ ' ') * 1099511628211
	for _, b := range uri {
		if b == '?' && path == 0 {
			path = mixed(h)
		}
		h = (h ^ uint64(b)) * 1099511628211
	}
	hash = mixed(h)
	return hash, cmp.Or(path, hash)
}

// mixed has each bit of a hash depend on all of them, and is not 0.
func mixed(h uint64) uint64 {
	h ^= h >> 33
	h *= 0xff51afd7ed558ccd
	h ^= h >> 33
	h *= 0xc4ceb9fe1a85ec53
	h ^= h >> 33
	return max(h, 1)
}
