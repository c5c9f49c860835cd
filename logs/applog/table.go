package applog

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/logs"
	"github.com/kasoku/kasoku/logs/lines"
)

// maxPatterns is how many messages a table yields: far more than programs print
// on purpose, few enough to keep in memory and to store.
const maxPatterns = 1000

// otherKinds is how many messages the tail may need: with and without SQL, for
// each level.
const otherKinds = 10

// otherPattern is the pattern of the messages that the tail is folded into.
const otherPattern = "(other lines: the log has more than 1,000 patterns)"

// An id identifies a message.
type id struct {
	host, path, pattern, level, code string
	sql                              bool
	nginx                            bool // a line of its error log
}

// A Table adds up the messages of a log. It is not safe for concurrent use.
type Table struct {
	host, path string
	account    logs.Account
	forms      [forms]uint64
	outside    uint64 // records beyond the run
	folded     uint64 // records of the tail
	messages   map[id]*kasoku.Message
}

func newTable(o Options) *Table {
	return &Table{host: o.Host, path: o.Path, messages: map[id]*kasoku.Message{}}
}

// message returns the message of that id, and whether others were folded to make
// room for it.
func (t *Table) message(k id) (m *kasoku.Message, folded bool) {
	if m := t.messages[k]; m != nil {
		return m, false
	}
	if len(t.messages) >= 2*maxPatterns {
		t.fold()
		folded = true
	}
	return t.add(k), folded
}

// add makes a message when there is none.
func (t *Table) add(k id) *kasoku.Message {
	m := t.messages[k]
	if m == nil {
		m = &kasoku.Message{Host: k.host, Path: k.path, Pattern: k.pattern, Level: k.level, Code: k.code, SQL: k.sql}
		if k.nginx {
			m.Kind = kasoku.MessageNginx
		}
		t.messages[k] = m
	}
	return m
}

// fold adds the tail to the messages of the rest, so that no more than
// maxPatterns are left.
func (t *Table) fold() {
	const keep = maxPatterns - otherKinds
	var ids []id
	for k := range t.messages {
		if k.pattern != otherPattern {
			ids = append(ids, k)
		}
	}
	if len(ids) <= keep {
		return
	}
	slices.SortFunc(ids, func(a, b id) int {
		return cmp.Or(cmp.Compare(t.weight(b), t.weight(a)), compareIDs(a, b))
	})
	for _, k := range ids[keep:] {
		m := t.messages[k]
		delete(t.messages, k)
		t.folded += m.Count
		k.pattern, k.code = otherPattern, ""
		o := t.add(k)
		mergeMessage(o, m)
		o.Sample = otherPattern
	}
}

// weight is how much a message is worth keeping: an error counts as much as ten
// other lines, one with a number of MySQL as much as a thousand.
func (t *Table) weight(k id) uint64 {
	n := t.messages[k].Count
	switch {
	case k.code != "":
		return n * 1000
	case k.level == failure.String():
		return n * 10
	}
	return n
}

func compareIDs(a, b id) int {
	return cmp.Or(cmp.Compare(a.pattern, b.pattern), cmp.Compare(a.level, b.level), cmp.Compare(a.code, b.code),
		cmp.Compare(a.host, b.host), cmp.Compare(a.path, b.path), compareBools(a.sql, b.sql),
		compareBools(a.nginx, b.nginx))
}

func compareBools(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	}
	return 1
}

// mergeMessage adds one message to another, and keeps the earlier sample.
func mergeMessage(to, from *kasoku.Message) {
	if from.Count == 0 {
		return
	}
	if to.Count == 0 {
		to.First, to.Last, to.Sample = from.First, from.Last, from.Sample
	} else if c := cmp.Compare(from.First, to.First); c < 0 || c == 0 && from.Sample < to.Sample {
		to.First, to.Sample = from.First, from.Sample
	}
	to.Last = max(to.Last, from.Last)
	to.Count += from.Count
	to.Bytes += from.Bytes
	if from.Seconds != nil && to.Seconds == nil {
		to.Seconds = make(map[int]uint64, len(from.Seconds))
	}
	for s, n := range from.Seconds {
		to.Seconds[s] += n
	}
}

// Messages returns the messages, the most frequent first, at most 1,000 of them:
// when the log has more patterns, the rarest are added up in messages whose
// pattern says so, where errors are kept before other lines.
func (t *Table) Messages() []kasoku.Message {
	if len(t.messages) > maxPatterns {
		t.fold()
	}
	ids := slices.SortedFunc(maps.Keys(t.messages), func(a, b id) int {
		return cmp.Or(cmp.Compare(t.messages[b].Count, t.messages[a].Count), compareIDs(a, b))
	})
	out := make([]kasoku.Message, 0, len(ids))
	for _, k := range ids {
		m := *t.messages[k]
		m.Seconds = maps.Clone(m.Seconds)
		out = append(out, m)
	}
	return out
}

// Window describes what was read from the lines.
func (t *Table) Window(src *lines.Window) kasoku.LogWindow {
	form := plainText
	for f := range forms {
		if t.forms[f] > t.forms[form] {
			form = f
		}
	}
	var notes []string
	if t.outside > 0 {
		notes = append(notes, fmt.Sprintf("%d entries outside of the run", t.outside))
	}
	if t.folded > 0 {
		notes = append(notes, fmt.Sprintf("%d entries of rare patterns added up", t.folded))
	}
	w := t.account.Window("applog", form.String(), src, notes...)
	w.Host = t.host
	if w.Path == "" {
		w.Path = t.path
	}
	return w
}
