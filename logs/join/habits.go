package join

// Literals are evidence when they match at least leastMatches times, and
// timesChance as often as with requests that are over.
const (
	leastMatches = 5
	timesChance  = 3
)

// matches is how often literals match: of an endpoint's own chunks, and by chance.
type matches struct{ own, chance float64 }

// learn counts the matches of each endpoint under the present rates.
func (f *fit) learn(k int32, rates []float64, back float64, match []matches) {
	own, hit := make([]float64, len(rates)), make([]float64, len(rates))
	tried := make([]struct{ all, matched, chance float64 }, len(rates))
	for p := f.mark[k]; p < f.mark[k+1]; p++ {
		es := f.entries[f.from[p]:f.from[p+1]]
		total := back
		for i := range es {
			total += rates[es[i].endpoint] * es[i].weight
		}
		if total <= 0 {
			continue
		}
		for i := range es {
			e := &es[i]
			s := f.shuffle[int(f.from[p])+i]
			t := &tried[e.endpoint]
			t.all += float64(s.tried)
			t.matched += float64(s.matched)
			t.chance += float64(s.chance)
			share := rates[e.endpoint] * e.weight / total
			own[e.endpoint] += share
			same, other := float64(e.same[f.mode(k)]), float64(e.other[f.mode(k)])
			if same > 0 {
				a, b := match[e.endpoint].factors()
				hit[e.endpoint] += share * same * a / (same*a + other*b)
			}
		}
	}
	for e := range match {
		// Two chunks' worth of doubt: what is seen once is not a habit.
		t := &tried[e]
		chance := (t.chance + 0.01) / (t.all + 1)
		if t.matched < leastMatches+timesChance*t.chance {
			match[e] = matches{}
			continue
		}
		match[e] = matches{own: min((hit[e]+2*chance)/(own[e]+2), 0.999), chance: min(chance, 0.999)}
	}
}

// factors are the likelihood ratios of a match and of none.
func (m matches) factors() (same, other float64) {
	if m.chance == 0 || m.own <= timesChance*m.chance {
		return 1, 1
	}
	return m.own / m.chance, (1 - m.own) / (1 - m.chance)
}

// weigh sets the weights of a kind's entries.
func (f *fit) weigh(k int32, match []matches) {
	mode := f.mode(k)
	for p := f.mark[k]; p < f.mark[k+1]; p++ {
		es := f.entries[f.from[p]:f.from[p+1]]
		for i := range es {
			same, other := 1.0, 1.0
			if match != nil {
				same, other = match[es[i].endpoint].factors()
			}
			es[i].weight = float64(es[i].same[mode])*same + float64(es[i].other[mode])*other
		}
	}
}
