package answers

import (
	"cmp"
	"context"
	"fmt"
	"hash/fnv"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/internal/unit"
)

// A Difference is one thing that answers of an endpoint have in another way.
type Difference struct {
	Endpoint   string
	Path       string // in the body; status, content type, header.Location …
	What       string // what differs there: value, kind, order, elements …
	Count      int    // how often
	Of         int    // elements there were, of lists; else 0
	Answers    int    // of the endpoint that have it
	Asked      int    // answers of the endpoint
	Request    string // the first that has it
	Was, Now   string // there, as text; empty for lists
	Concurrent bool   // only while other requests were under way
}

// A Checked is what Check returns.
type Checked struct {
	Answers     int // that were asked for
	Of          int // that the file has
	Failed      int // of Answers, those that failed or have another status: their bodies are not compared
	Volatile    int // places that were left out
	Differences []Difference
	Oldest      map[string]time.Duration // by endpoint: the greatest Age of an answer
	// Bare has, by endpoint, the host and port that was asked where all answers were 200 without ETag,
	// Last-Modified, Cache-Control and Expires; "" where one was not.
	Bare map[string]string
	// Outside has, by endpoint, the first value that lies outside of the population whose statistics stand
	// beside it, in words.
	Outside map[string]string
	// Sequences are, by endpoint, what its answers hold and in which order, less what is volatile;
	// none where one failed or was not asked.
	Sequences map[string]kasoku.AnswerSequence
}

// Reordered returns, by endpoint, in words, what has the same elements in another order and
// differs in nothing else.
func (c *Checked) Reordered() map[string]string {
	out, other := map[string]string{}, map[string]bool{}
	for i := range c.Differences {
		d := &c.Differences[i]
		if d.What != ofOrder {
			other[d.Endpoint] = true
		} else if out[d.Endpoint] == "" {
			out[d.Endpoint] = d.Text()
		}
	}
	maps.DeleteFunc(out, func(endpoint, _ string) bool { return other[endpoint] })
	return out
}

// Compared returns what a run keeps of it.
func (c *Checked) Compared() kasoku.ComparedAnswers {
	return kasoku.ComparedAnswers{Asked: c.Answers - c.Failed, Failed: c.Failed, Order: c.Reordered(),
		Oldest: c.Oldest, Bare: c.Bare, Outside: c.Outside, Sequences: c.Sequences}
}

// Check asks for all golden answers again, alone and with others under way. When the
// context ends, or the service is not there, what was found so far is returned with the
// error.
func (a *Asker) Check(ctx context.Context, g *Golden) (*Checked, error) {
	if err := a.start(); err != nil {
		return nil, err
	}
	requests := make([]Request, len(g.Answers))
	out := &Checked{Of: len(g.Answers), Oldest: map[string]time.Duration{}, Bare: map[string]string{},
		Outside: map[string]string{}, Sequences: map[string]kasoku.AnswerSequence{}}
	for i := range g.Answers {
		if err := g.Answers[i].check(); err != nil { // recorded just now, perhaps, and not read
			return nil, err
		}
		requests[i] = g.Answers[i].Request
		out.Volatile += len(g.Answers[i].Volatile)
	}
	s := &summary{known: map[summaryKey]*Difference{}, in: map[summaryKey]map[int]bool{}, asked: map[string]int{}}
	failed := map[string]bool{} // endpoints
	got, err := a.pass(ctx, "alone", requests, 1, 2*a.most)
	for i := range got {
		if got[i].done {
			out.Answers++
			s.asked[requests[i].Endpoint]++
			if got[i].err != nil || got[i].answer.Status != g.Answers[i].Status {
				out.Failed++
				failed[requests[i].Endpoint] = true
			}
			if age := got[i].answer.age; age > 0 {
				out.Oldest[requests[i].Endpoint] = max(out.Oldest[requests[i].Endpoint], age)
			}
			endpoint, host := requests[i].Endpoint, requests[i].host()
			if before, known := out.Bare[endpoint]; got[i].err != nil || !got[i].answer.bare || known && before != host {
				host = ""
			}
			out.Bare[endpoint] = host
			now := &got[i].answer
			if got[i].err == nil && now.Status == g.Answers[i].Status && now.Form == formJSON && out.Outside[endpoint] == "" {
				if words := outside(now.tree()[bodyOf(formJSON)]); words != "" {
					out.Outside[endpoint] = words
				}
			}
			s.add(i, &g.Answers[i], &got[i], false)
			if !failed[endpoint] {
				out.Sequences[endpoint] = sequenceOf(out.Sequences[endpoint], &g.Answers[i], &got[i].answer)
			}
		} else {
			failed[requests[i].Endpoint] = true
		}
	}
	maps.DeleteFunc(out.Sequences, func(endpoint string, _ kasoku.AnswerSequence) bool { return failed[endpoint] })
	if err == nil {
		got, err = a.pass(ctx, "at once", requests, a.InFlight, 2*a.most)
		for i := range got {
			if got[i].done {
				s.add(i, &g.Answers[i], &got[i], true)
			}
		}
	}
	out.Differences = s.differences()
	return out, err
}

// Twice records requests and checks them at once: what a run knows of answers that no file has.
func (a *Asker) Twice(ctx context.Context, requests []Request) (kasoku.ComparedAnswers, error) {
	kept, err := a.Record(ctx, requests)
	if err != nil {
		return kasoku.ComparedAnswers{}, err
	}
	got, err := a.Check(ctx, kept.Golden)
	if got == nil {
		return kasoku.ComparedAnswers{}, err
	}
	return got.Compared(), err
}

type summaryKey struct{ endpoint, path, what string }

// A summary adds up differences of the answers of each endpoint.
type summary struct {
	known map[summaryKey]*Difference
	in    map[summaryKey]map[int]bool // which answers have it
	asked map[string]int              // answers by endpoint
	order []summaryKey
}

func (s *summary) add(n int, golden *Answer, now *asked, concurrent bool) {
	if now.err != nil {
		s.note(n, golden, concurrent, Difference{Path: "status", What: ofPresence, Count: 1, Was: fmt.Sprint(golden.Status), Now: now.err.Error()})
		return
	}
	root := golden.places()
	d := newDiffer(root)
	d.compare(root, golden.tree(), now.answer.tree())
	changes := d.changes
	i := slices.IndexFunc(changes, func(c *change) bool { return c.at.path() == "status" })
	if i >= 0 {
		changes = changes[i : i+1] // another status has another body
	}
	hashed := slices.IndexFunc(changes, func(c *change) bool { return c.at.path() == "body hash.hash" })
	for _, c := range changes {
		path := c.at.path()
		if path == "body hash.bytes" && hashed >= 0 {
			continue // the other one says it
		}
		s.note(n, golden, concurrent, Difference{Path: path, What: c.what, Count: c.count, Of: c.of,
			Was: valueWords(c.what, c.was), Now: valueWords(c.what, c.now)})
	}
}

// places has what is volatile of an answer.
func (a *Answer) places() *place {
	root := &place{}
	for _, v := range a.Volatile {
		if at, err := root.at(v.Path); err == nil { // check has seen to it
			at.setVolatile(v.What)
		}
	}
	return root
}

// sequenceOf adds an answer to those of its endpoint before it. FNV is the same in each process, so that
// runs can be compared.
func sequenceOf(before kasoku.AnswerSequence, golden, now *Answer) kasoku.AnswerSequence {
	d := &differ{root: golden.places(), hash: fnv.New64a}
	add := func(sum uint64, text string) uint64 {
		h := fnv.New64a()
		_, _ = fmt.Fprint(h, sum, " ", text)
		return h.Sum64()
	}
	tree := now.tree()
	out := kasoku.AnswerSequence{Requests: add(before.Requests, golden.Method+" "+golden.URL),
		Order: add(before.Order, fmt.Sprint(d.digest(d.root, tree)))}
	d.sets = true
	out.Elements = add(before.Elements, fmt.Sprint(d.digest(d.root, tree)))
	return out
}

// valueWords is a value in a few words: itself, or its kind.
func valueWords(what string, v any) string {
	switch kind := kindOf(v); {
	case what == ofOrder, what == ofElements, what == isLonger, what == hasLost:
		return ""
	case what == ofValue:
		text := plain(v)
		if runes := []rune(text); len(runes) > 60 {
			text = string(runes[:59]) + "…"
		}
		if kind == "text" {
			return fmt.Sprintf("%q", text)
		}
		return text
	default:
		return kind
	}
}

func (s *summary) note(n int, golden *Answer, concurrent bool, x Difference) {
	k := summaryKey{golden.Endpoint, x.Path, x.What}
	known := s.known[k]
	switch {
	case known == nil:
		x.Endpoint, x.Request, x.Concurrent = golden.Endpoint, golden.String(), concurrent
		s.known[k], s.in[k] = &x, map[int]bool{n: true}
		s.order = append(s.order, k)
	case !s.in[k][n]:
		known.Count, known.Of = known.Count+x.Count, known.Of+x.Of
		s.in[k][n] = true
	}
}

func (s *summary) differences() (out []Difference) {
	for _, k := range s.order {
		d := *s.known[k]
		d.Answers, d.Asked = len(s.in[k]), s.asked[k.endpoint]
		out = append(out, d)
	}
	slices.SortStableFunc(out, func(a, b Difference) int { return cmp.Compare(a.Endpoint, b.Endpoint) })
	return out
}

// Place returns the path for people: that in the body without the body's name.
func (d *Difference) Place() string {
	for _, form := range []string{formJSON, formHTML, formLines, formHash} {
		if rest, ok := strings.CutPrefix(d.Path, bodyOf(form)); ok {
			return strings.TrimPrefix(rest, ".")
		}
	}
	return d.Path
}

// Text describes the difference, without the endpoint.
func (d *Difference) Text() string {
	text := d.text()
	if d.Asked > 1 {
		text += fmt.Sprintf(", in %d of %d answers", d.Answers, d.Asked)
	}
	if d.Concurrent {
		text += ", only with other requests under way"
	}
	return text
}

// String describes it with the endpoint, in one line.
func (d *Difference) String() string {
	if text := d.Text(); d.What == ofOrder && d.Place() == "" {
		return d.Endpoint + " " + text
	}
	return d.Endpoint + ": " + d.Text()
}

func (d *Difference) text() string {
	place := d.Place()
	named := func(text string) string {
		if place == "" {
			return text
		}
		return place + ": " + text
	}
	switch {
	case d.Path == "status" && d.What == ofPresence:
		return "no answer, was " + d.Was + " (" + d.Now + ")"
	case d.Path == "status" || d.Path == "content type":
		return fmt.Sprintf("%s %s, was %s", d.Path, strings.Trim(d.Now, `"`), strings.Trim(d.Was, `"`))
	case strings.HasPrefix(d.Path, "body ") && !strings.ContainsAny(d.Path, ".[") && d.What != ofOrder && d.Now+d.Was != "" &&
		(d.What == ofPresence || d.What == isAdded):
		return "the body has another form"
	case d.Path == "body hash.hash":
		return "the body differs"
	}
	switch d.What {
	case ofOrder:
		if place != "" {
			place += " "
		}
		return fmt.Sprintf("%snow comes in another order (%s of %s)", place,
			unit.Count(uint64(d.Count)), unit.Count(uint64(d.Of)))
	case ofElements, hasLost:
		verb := "are"
		if d.Count == 1 {
			verb = "is"
		}
		return named(fmt.Sprintf("%s of %s %s missing", unit.Count(uint64(d.Count)),
			unit.Counted(d.Of, "element", "elements"), verb))
	case isLonger:
		return named(fmt.Sprintf("%s more than the %s there were",
			unit.Counted(d.Count, "element", "elements"), unit.Count(uint64(d.Of))))
	case ofPresence:
		return place + " is missing" + d.times()
	case isAdded:
		return place + " is new" + d.times()
	}
	return named(fmt.Sprintf("%s, was %s", d.Now, d.Was)) + d.times()
}

// times says how often, where that is more than once.
func (d *Difference) times() string {
	if d.Count < 2 {
		return ""
	}
	return fmt.Sprintf(" (%s times)", unit.Count(uint64(d.Count)))
}
