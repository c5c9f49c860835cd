package routes

import (
	"bytes"
	"fmt"
	"regexp"

	"github.com/kasoku/kasoku/logs/patterns"
)

// A kataribe is the bundles and replacements of a kataribe.toml.
type kataribe struct {
	set      *patterns.Set // nil without bundles
	names    []string
	replaces []*regexp.Regexp
	with     [][]byte
}

func newKataribe(bundles []Bundle, replaces []Replace) (*kataribe, error) {
	k := &kataribe{}
	var exprs []string
	for _, b := range bundles {
		name := b.Name
		if name == "" {
			name = b.Expr
		}
		k.names, exprs = append(k.names, name), append(exprs, b.Expr)
	}
	var err error
	if len(exprs) > 0 {
		if k.set, err = patterns.Compile(exprs); err != nil {
			return nil, fmt.Errorf("bundles: %w", err)
		}
	}
	for _, r := range replaces {
		re, err := regexp.Compile(r.Expr)
		if err != nil {
			return nil, fmt.Errorf("replace %q: %w", r.Expr, err)
		}
		k.replaces, k.with = append(k.replaces, re), append(k.with, []byte(r.With))
	}
	return k, nil
}

// A bundler finds what a kataribe.toml calls a request. It is for one goroutine.
type bundler struct {
	*kataribe
	matcher *patterns.Matcher
	line    []byte
}

func (k *kataribe) bundler() *bundler {
	b := &bundler{kataribe: k}
	if k.set != nil {
		b.matcher = k.set.Matcher()
	}
	return b
}

// find returns what a request is called, without method and protocol; ok says
// whether anything matched. The result is valid until the next call.
func (b *bundler) find(method, path []byte) (name []byte, ok bool) {
	b.line = append(append(append(append(b.line[:0], method...), ' '), path...), " HTTP/1.1"...)
	name = b.line
	if b.matcher != nil {
		if i := b.matcher.First(b.line); i >= 0 {
			name, ok = []byte(b.names[i]), true
		}
	}
	for i, re := range b.replaces {
		if re.Match(name) {
			name, ok = re.ReplaceAll(name, b.with[i]), true
		}
	}
	if !ok {
		return nil, false
	}
	if rest, found := bytes.CutPrefix(name, method); found && len(rest) > 1 && rest[0] == ' ' {
		name = rest[1:]
	}
	name = bytes.TrimSuffix(name, []byte(" HTTP/1.1"))
	name = name[:min(len(name), MaxRoute)]
	return name, len(name) > 0
}
