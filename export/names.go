package export

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"strings"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/wire/graphite"
	"github.com/kasoku/kasoku/wire/mackerel"
)

func compareKeys(a, b kasoku.Key) int {
	return cmp.Or(strings.Compare(a.Host, b.Host), strings.Compare(a.Source, b.Source),
		strings.Compare(a.Name, b.Name), strings.Compare(a.Instance, b.Instance))
}

// A namer gives each series the name that a protocol takes, and no two the same one.
// Where two would become one, such as entities "a b" and "a_b", the later one ends in
// a digest of what it is really called.
type namer struct {
	make  func(v *Value) string
	names map[nameKey]string
	taken map[string]bool
}

type nameKey struct {
	kasoku.Key
	kind kasoku.Kind
}

// mostNames is how many are remembered. Beyond it all are forgotten: processes come
// and go for as long as a live export runs.
const mostNames = 100_000

func newNamer(make func(v *Value) string) *namer {
	return &namer{make: make, names: map[nameKey]string{}, taken: map[string]bool{}}
}

func (n *namer) of(v *Value) string {
	k := nameKey{v.Key, v.Kind}
	if name, known := n.names[k]; known {
		return name
	}
	if len(n.names) >= mostNames {
		clear(n.names)
		clear(n.taken)
	}
	name := n.make(v)
	if n.taken[name] {
		name += digest(v)
	}
	n.names[k], n.taken[name] = name, true
	return name
}

// digest distinguishes series whose names are alike.
func digest(v *Value) string {
	h := fnv.New32a()
	for _, s := range []string{v.Key.Host, v.Key.Source, v.Metric(), v.Key.Instance} {
		_, _ = h.Write([]byte(s + "\x00")) // a hash takes all
	}
	return fmt.Sprintf("_%08x", h.Sum32())
}

// graphitePath is PREFIX.HOST.SOURCE.METRIC[.ENTITY]; the dots of a metric part it.
func graphitePath(prefix string, v *Value) string {
	var parts []string
	if prefix != "" {
		parts = append(parts, strings.Split(prefix, ".")...)
	}
	parts = append(parts, v.Key.Host, v.Key.Source)
	parts = append(parts, strings.Split(v.Metric(), ".")...)
	if v.Key.Instance != "" {
		parts = append(parts, v.Key.Instance)
	}
	return graphite.Path(parts...)
}

// mackerelName is PREFIX.SOURCE.METRIC[.ENTITY], what stands before .avg and .max.
func mackerelName(prefix string, v *Value) string {
	parts := append([]string{v.Key.Source}, strings.Split(v.Metric(), ".")...)
	if v.Key.Instance != "" {
		parts = append(parts, v.Key.Instance)
	}
	for i, p := range parts {
		parts[i] = mackerel.Name(p)
	}
	return prefix + "." + strings.Join(parts, ".")
}
