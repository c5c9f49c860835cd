package answers

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"
)

// A LeftOut is a request whose answer is not kept.
type LeftOut struct {
	Request Request
	Why     string
}

// A Recorded is what Record returns: the golden answers, and what it left out of them.
type Recorded struct {
	Golden *Golden
	Left   []LeftOut
}

// Record asks each request twice, a pause apart, and twice more with others under way, and
// keeps what did not differ. When the context ends, or the service goes away, what was
// asked at least twice is returned with the error.
func (a *Asker) Record(ctx context.Context, requests []Request) (*Recorded, error) {
	if err := a.start(); err != nil {
		return nil, err
	}
	for i := range requests {
		if err := requests[i].Validate(); err != nil {
			return nil, err
		}
	}
	if len(requests) > maxAnswers {
		return nil, fmt.Errorf("%d requests, at most %d", len(requests), maxAnswers)
	}
	out := &Recorded{Golden: &Golden{Schema: schema, Kind: kindOfFile, Recorded: time.Now().UTC().Truncate(time.Second)}}
	asks := make([][]asked, len(requests))
	err := a.passes(ctx, requests, asks)
	kept, until, moved := 0, time.Now().Add(endWithin), map[aside]int{}
	for i := range requests {
		if len(asks[i]) < 2 {
			continue // nothing is known of it
		}
		if ctx.Err() != nil && time.Now().After(until) {
			return out, cmp.Or(err, context.Cause(ctx)) // to compare long answers takes seconds
		}
		answer, why := settle(requests[i], asks[i])
		if kept += written(answer.Body); why == "" && kept > MaxFile-MaxFile/8 {
			why = errHeld.Error()
		}
		if why != "" {
			out.Left = append(out.Left, LeftOut{requests[i], why})
			continue
		}
		for _, x := range movedIn(&answer, &asks[i][0].answer) {
			moved[x]++
		}
		out.Golden.Answers = append(out.Golden.Answers, answer)
	}
	leaveAside(out.Golden.Answers, moved)
	return out, err
}

// endWithin is how long answers are settled of which no more are asked for.
const endWithin = 500 * time.Millisecond

// written is about how long a body is in a golden file: each element of a list has a line of
// its own there.
func written(body []byte) int {
	const indent = 8
	return len(body) + indent*bytes.Count(body, []byte(","))
}

// alone is how many of the asks of a request were made with no other under way.
const alone = 2

// passes asks all requests in turn, again, and twice at once.
func (a *Asker) passes(ctx context.Context, requests []Request, asks [][]asked) error {
	add := func(got []asked, of func(int) int) {
		for i := range got {
			if got[i].done {
				asks[of(i)] = append(asks[of(i)], got[i])
			}
		}
	}
	same := func(i int) int { return i }
	began := time.Now()
	got, err := a.pass(ctx, "first", requests, 1, a.most)
	add(got, same)
	if err != nil {
		return err
	}
	if err := pauseUntil(ctx, began.Add(a.Pause)); err != nil {
		return err
	}
	got, err = a.pass(ctx, "again", requests, 1, a.most)
	add(got, same)
	if err != nil {
		return err
	}
	twice := make([]Request, 0, 2*len(requests))
	for i := range requests {
		twice = append(twice, requests[i], requests[i]) // at once with itself
	}
	got, err = a.pass(ctx, "at once", twice, a.InFlight, 2*a.most)
	add(got, func(i int) int { return i / 2 })
	return err
}

func pauseUntil(ctx context.Context, at time.Time) error {
	t := time.NewTimer(time.Until(at))
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// settle makes one golden answer of several asks, or says why there is none.
func settle(r Request, asks []asked) (Answer, string) {
	for i := range asks {
		switch x := &asks[i]; {
		case x.err != nil:
			return Answer{}, "no answer: " + x.err.Error()
		case x.answer.Status >= 500:
			return Answer{}, fmt.Sprintf("it answers %d", x.answer.Status)
		case x.answer.Status != asks[0].answer.Status:
			return Answer{}, fmt.Sprintf("it answers %d, and %d", asks[0].answer.Status, x.answer.Status)
		case x.answer.Form != asks[0].answer.Form:
			return Answer{}, fmt.Sprintf("its body is %s, and %s", asks[0].answer.Form, x.answer.Form)
		}
	}
	out := asks[0].answer
	out.Request = r
	trees := make([]map[string]any, len(asks))
	for i := range asks {
		trees[i] = asks[i].answer.tree()
	}
	root := &place{}
	out.Volatile = findVolatile(root, trees[:min(alone, len(trees))], false)
	out.Volatile = append(out.Volatile, findVolatile(root, trees, true)...)
	if len(out.Volatile) > maxVolatile {
		return Answer{}, fmt.Sprintf("it differs in %d places", len(out.Volatile))
	}
	tree := trees[0]
	for _, other := range trees[1:] {
		keepStable(root, tree, other)
	}
	out.raw, out.hash = nil, nil
	if out.Form != formNone {
		var err error
		if out.Body, err = json.Marshal(tree[bodyOf(out.Form)]); err != nil {
			return Answer{}, err.Error()
		}
	}
	return out, ""
}

// mostRounds bounds the search: each round but the last finds a volatile place, and knows
// the pairs of a list better for it.
const mostRounds = 50

// findVolatile marks the places that differ between the asks, and returns the new ones.
func findVolatile(root *place, trees []map[string]any, concurrent bool) (out []Volatile) {
	for range mostRounds {
		found := false
		for _, other := range trees[1:] {
			d := newDiffer(root)
			d.compare(root, trees[0], other)
			for _, c := range d.changes {
				if what := volatileBy(c.what); what != "" && c.at.setVolatile(what) {
					found = true
					out = append(out, Volatile{c.at.path(), what, concurrent})
				}
			}
		}
		if !found {
			break
		}
	}
	return out
}

// volatileBy returns in what a place with such a change is volatile.
func volatileBy(what string) string {
	switch what {
	case isAdded:
		return ofPresence
	case isLonger:
		return ofElements
	case hasLost:
		return ""
	}
	return what
}

// keepStable takes out of lists of scalars whose elements are volatile what another ask
// does not have: the rest must always be there.
func keepStable(at *place, tree map[string]any, other any) {
	same, ok := other.(map[string]any)
	if !ok {
		return
	}
	for _, name := range slices.Sorted(maps.Keys(tree)) {
		m := at.members[name]
		if m == nil {
			continue
		}
		switch v := tree[name].(type) {
		case map[string]any:
			keepStable(m, v, same[name])
		case []any:
			list, ok := same[name].([]any)
			if ok && m.volatile[ofElements] && allScalars(v) && allScalars(list) {
				pairs := pairEqual(v, list)
				slices.SortFunc(pairs, func(a, b pair) int { return a.was - b.was })
				kept := []any{}
				for _, p := range pairs {
					kept = append(kept, v[p.was])
				}
				tree[name] = kept
			}
		}
	}
}
