package accesslog

import (
	"cmp"
	"encoding/binary"
	"slices"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/logs/accessformat"
)

// A refetch is what clients fetched again of a row.
type refetch struct{ requests, bytes, took uint64 } // took in ns

func (f *refetch) add(o refetch) {
	f.requests += o.requests
	f.bytes += o.bytes
	f.took += o.took
}

// keptSlots is how many clients, and how many answers that clients have, are followed at once,
// a power of two. Where two meet in a slot the later one takes it, so that a log of more
// counts a few too few and never needs more memory: 0.4 MB.
const keptSlots = 1 << 14

// kept are the clients that were answered 304, and the answers that they have. A client that
// never asks on condition, as many load generators, is none of them.
type kept struct {
	clients []uint64 // hashes of address and user agent; 0: free
	answers []keptAnswer
}

type keptAnswer struct{ hash, bytes uint64 } // of client and URI

// answer looks at an answer to GET of a URI.
func (k *kept) answer(f *refetch, uri uint64, r *accessformat.Record) {
	switch {
	case r.Status != 200 && r.Status != 304 || string(r.Method) != "GET":
		return
	case len(r.RemoteAddr) == 0 || len(r.UserAgent) == 0:
		return
	case r.Status == 304:
		if k.clients == nil {
			k.clients, k.answers = make([]uint64, keptSlots), make([]keptAnswer, keptSlots)
		}
		client := hashClient(r.RemoteAddr, r.UserAgent)
		k.clients[client&(keptSlots-1)] = client
		return
	case k.clients == nil || r.Has&accessformat.HasBytes == 0 || r.Bytes == 0:
		return
	}
	client := hashClient(r.RemoteAddr, r.UserAgent)
	if k.clients[client&(keptSlots-1)] != client {
		return
	}
	hash := client ^ uri*0x9e3779b97f4a7c15
	a := &k.answers[hash>>32&(keptSlots-1)]
	if *a == (keptAnswer{hash, r.Bytes}) {
		f.add(refetch{1, r.Bytes, uint64(max(r.Latency, 0))})
	}
	*a = keptAnswer{hash, r.Bytes}
}

// hashClient is a hash of a client, as repeatable as [hashURI], that takes eight bytes at a
// step: user agents are long.
func hashClient(address, agent []byte) uint64 {
	h := uint64(14695981039346656037)
	for _, b := range [2][]byte{address, agent} {
		h = (h ^ uint64(len(b))) * 1099511628211
		for ; len(b) >= 8; b = b[8:] {
			h = (h ^ binary.LittleEndian.Uint64(b)) * 0x9e3779b97f4a7c15
			h ^= h >> 32
		}
		for _, c := range b {
			h = (h ^ uint64(c)) * 1099511628211
		}
	}
	return mixed(h)
}

// FetchedAgain returns what clients of a table fetched again that they had, the most bytes first, n
// endpoints at most. It is counted with Options.Detail, and empty where rows are not those of
// endpoints.
func FetchedAgain(t *Table, n int) (out []kasoku.FetchedAgain) {
	s := t.settle()
	for _, w := range s.rows {
		if !s.by.usual || w.detail == nil || w.detail.again.requests == 0 || w.key == otherKey {
			continue
		}
		row, f := s.row(w), w.detail.again
		out = append(out, kasoku.FetchedAgain{Method: row.Method, Route: row.Route, Requests: f.requests, Bytes: f.bytes,
			Time: time.Duration(f.took)})
	}
	slices.SortFunc(out, func(a, b kasoku.FetchedAgain) int {
		return cmp.Or(cmp.Compare(b.Bytes, a.Bytes), cmp.Compare(a.Route, b.Route))
	})
	return out[:min(n, len(out))]
}
