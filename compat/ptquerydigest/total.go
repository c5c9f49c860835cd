package ptquerydigest

import (
	"bytes"
	"strconv"

	"github.com/kasoku/kasoku/logs/slowlog"
)

// A total is a sum of how many values.
type total struct {
	sum float64
	n   uint64
}

// addTimes adds up the times of an event that are not kept for each.
func (r *reading) addTimes(e *slowlog.Event) {
	e.Attributes(func(name, text []byte) bool {
		if !bytes.HasSuffix(name, []byte("_wait")) && !bytes.HasSuffix(name, []byte("_time")) {
			return true
		}
		v, err := strconv.ParseFloat(string(text), 64)
		if err != nil {
			return true
		}
		t := r.others[string(name)]
		if t == nil {
			if r.others == nil {
				r.others = map[string]*total{}
			}
			t = new(total)
			r.others[string(name)] = t
		}
		t.sum += v
		t.n++
		return true
	})
}

// reorder puts the sums of all events in place that were made in their order.
func (r *reading) reorder(c *class) {
	put := func(name string, t total) {
		if a := c.find(name); a != nil && a.kind == isNumber && a.sum.Count == t.n {
			a.sum.Sum = t.sum
			a.sum.Mean = a.sum.Sum / float64(a.sum.Count)
		}
	}
	for name, t := range r.others {
		put(name, *t)
	}
	for i, name := range []string{queryTime, "Lock_time"} {
		put(name, total{r.whole[i], c.calls})
	}
}
