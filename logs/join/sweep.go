package join

// A sweep goes through the time with the requests that are open.
type sweep struct {
	*fit
	open     []int32
	next     int       // request
	past     [][]int32 // requests of each unit that have begun
	slot     []int32   // of each unit: its entry of the chunk, from 1
	all      []entry
	tries    []shuffled
	literals []uint64 // of the chunk
	mask     uint64
}

// sweep finds the entries of all chunks, which byTime orders.
func (f *fit) sweep(byTime []int32) {
	s := &sweep{fit: f, past: make([][]int32, f.w.endpoints), slot: make([]int32, f.w.endpoints)}
	found := make([][2]int32, len(byTime)) // of each chunk: its entries in all
	for _, at := range byTime {
		begin := len(s.all)
		s.chunk(at)
		found[at] = [2]int32{int32(begin), int32(len(s.all))}
	}
	f.entries = make([]entry, 0, len(s.all))
	f.shuffle = make([]shuffled, 0, len(s.all))
	f.from = make([]int32, len(byTime)+1)
	for at, r := range found {
		f.from[at] = int32(len(f.entries))
		f.entries = append(f.entries, s.all[r[0]:r[1]]...)
		f.shuffle = append(f.shuffle, s.tries[r[0]:r[1]]...)
	}
	f.from[len(byTime)] = int32(len(f.entries))
}

// chunk adds the entries of one chunk.
func (s *sweep) chunk(at int32) {
	w := s.w
	c := &w.chunks[s.order[at]]
	for s.next < len(w.requests) && w.requests[s.next].Start-edge <= c.start {
		u := s.unit[w.requests[s.next].Endpoint]
		s.past[u] = append(s.past[u], int32(s.next))
		s.open = append(s.open, int32(s.next))
		s.next++
	}
	s.mask, s.literals = 0, s.literals[:0]
	for _, m := range w.member[c.at : c.at+c.n] {
		for _, l := range w.events[m].Literals {
			s.literals = append(s.literals, l)
			s.mask |= bitOf(l)
		}
	}
	begin := len(s.all)
	kept := s.open[:0]
	for _, r := range s.open {
		q := &w.requests[r]
		if q.End+edge < c.start-s.slack {
			continue
		}
		kept = append(kept, r)
		if part := c.inside(q); part > 0 {
			s.request(c, at, r, begin, part)
		}
	}
	s.open = kept
}

// request adds request r, in which the chunk may be, to the entry of its unit.
func (s *sweep) request(c *chunk, at, r int32, begin int, part float64) {
	q := &s.w.requests[r]
	u := s.unit[q.Endpoint]
	i := begin + int(s.slot[u]) - 1
	if i < begin || i >= len(s.all) || s.all[i].endpoint != u {
		i = len(s.all)
		s.slot[u] = int32(i-begin) + 1
		s.all = append(s.all, entry{endpoint: u})
		s.tries = append(s.tries, shuffled{})
	}
	same := false
	if s.mask != 0 {
		same = s.w.reqValues.match(r, s.mask, s.literals)
		s.tries[i].count(same, s.chance(s.past[u], uint32(at)*64+uint32(r)%64, s.mask, s.literals))
	}
	// The chunk's beginning lies anywhere but in its own length before the end.
	d := s.w.length(q) - float64(min(c.end-c.start, q.End-q.Start))
	weights := &s.all[i].other
	if same {
		weights = &s.all[i].same
	}
	weights[0] += float32(part / d)
	weights[1] += float32(part / min(d, s.pace[u]))
}

// count adds one open request.
func (s *shuffled) count(same, chance bool) {
	s.tried++
	if same {
		s.matched++
	}
	if chance {
		s.chance++
	}
}

// chance tries a chunk's literals on a request of the endpoint that is long over.
func (f *fit) chance(past []int32, try uint32, mask uint64, literals []uint64) bool {
	const open = 100 // the last ones may be open
	if len(past) <= 2*open {
		return false
	}
	h := uint64(try) * 0x9e3779b97f4a7c15 >> 32
	return f.w.reqValues.match(past[h%uint64(len(past)-open)], mask, literals)
}
