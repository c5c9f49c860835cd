package nginxconf

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// ErrNoContext means that a configuration has no block of that name.
var ErrNoContext = errors.New("no such block")

// Edit returns the text of one file with directives put into a block: "http",
// "server", "location /api/", "upstream app", or "" for the top. Where there are
// several of that name, each that passes requests on gets them; all when none does. A
// directive that is there with the same name gives way, of those that may come several
// times the one with the same first words, such as proxy_set_header Host. Comments,
// order and all else stay as they are; editing twice is as editing once.
func Edit(text, context, directives string) (string, error) {
	if IsDump(text) {
		return "", errors.New("nginx configuration: what nginx -T prints is no file to edit")
	}
	want, err := parseSpans(directives, "edit")
	if err != nil {
		return "", err
	}
	conf, err := parseSpans(text, "nginx.conf")
	if err != nil {
		return "", err
	}
	blocks, err := conf.blocks(context)
	if err != nil {
		return "", err
	}
	var changes []change
	for _, b := range blocks {
		changes = append(changes, conf.change(b, want)...)
	}
	slices.SortStableFunc(changes, func(a, b change) int { return a.from - b.from })
	var out strings.Builder
	at := 0
	for _, c := range changes {
		if c.from < at {
			return "", fmt.Errorf("nginx configuration: %q: such blocks stand in one another", context)
		}
		out.WriteString(text[at:c.from])
		out.WriteString(c.text)
		at = c.to
	}
	out.WriteString(text[at:])
	return out.String(), nil
}

// A change replaces a part of a text.
type change struct {
	from, to int
	text     string
}

// A located is a text with its directives and where they stand.
type located struct {
	text string
	Config
	spans []span
}

func parseSpans(text, name string) (*located, error) {
	p := parser{text: text, file: name, line: 1, parent: -1}
	p.run()
	if p.err != nil {
		return nil, p.err
	}
	return &located{text, p.out, p.spans}, nil
}

// blocks returns the blocks that a context names; -1 is the top.
func (c *located) blocks(context string) ([]int, error) {
	if context == "" {
		return []int{-1}, nil
	}
	var all, passing []int
	for i := range c.Config {
		d := &c.Config[i]
		if !d.Block || strings.Join(d.Words, " ") != strings.Join(strings.Fields(context), " ") {
			continue
		}
		all = append(all, i)
		if c.passes(i) {
			passing = append(passing, i)
		}
	}
	switch {
	case len(all) == 0:
		return nil, fmt.Errorf("nginx configuration: %q: %w", context, ErrNoContext)
	case len(passing) > 0:
		return passing, nil
	}
	return all, nil
}

// passes reports whether a block, or one in it, passes requests on.
func (c *located) passes(block int) bool {
	for i := block + 1; i < len(c.Config) && c.Config[i].Depth > c.Config[block].Depth; i++ {
		if slices.Contains([]string{"proxy_pass", "fastcgi_pass", "uwsgi_pass", "grpc_pass"}, c.Config[i].Name()) {
			return true
		}
	}
	return false
}

// change puts the directives into a block.
func (c *located) change(block int, want *located) (out []change) {
	var fresh []string
	indent := c.indent(block)
	for i := range want.Config {
		d := &want.Config[i]
		if d.Parent >= 0 || len(want.same(-1, d)) > 1 && want.same(-1, d)[0] < i {
			continue // the first of the same name counts
		}
		text := want.indented(want.spans[i], indent)
		old := c.same(block, d)
		for n, at := range old {
			s := c.spans[at]
			if n == 0 {
				out = append(out, change{s.from, s.end, text})
			} else {
				out = append(out, c.removal(s))
			}
		}
		if len(old) == 0 {
			fresh = append(fresh, indent+text+"\n")
		}
	}
	if len(fresh) == 0 {
		return out
	}
	return append(out, c.insertion(block, strings.Join(fresh, "")))
}

// keyWords is how many words distinguish two directives of the same name, beside their
// name; all of them where it is -1. Of names that are not listed there is one a block.
func keyWords(d *Directive) int {
	switch d.Name() {
	case "proxy_set_header", "add_header", "fastcgi_param", "set", "upstream", "proxy_cache_path", "log_format",
		"limit_req_zone", "limit_conn_zone":
		return 1
	case "map", "geo", "split_clients":
		return 2
	case "location", "if", "server", "include", "allow", "deny", "error_page", "rewrite", "listen", "load_module",
		"limit_req", "limit_conn", "types", "env":
		return -1
	}
	return 0
}

// same returns the directives of a block, -1 for the top, that one replaces.
func (c *located) same(block int, d *Directive) (out []int) {
	key := func(d *Directive) []string {
		n := keyWords(d)
		if n < 0 {
			return d.Words
		}
		return d.Words[:min(1+n, len(d.Words))]
	}
	for i := range c.Config {
		if x := &c.Config[i]; x.Parent == block && x.Block == d.Block && slices.Equal(key(x), key(d)) {
			out = append(out, i)
		}
	}
	return out
}

// indent returns what stands before the directives of a block.
func (c *located) indent(block int) string {
	for i := range c.Config {
		if c.Config[i].Parent == block {
			if s, alone := c.before(c.spans[i].from); alone {
				return s
			}
		}
	}
	if block < 0 {
		return ""
	}
	s, _ := c.before(c.spans[block].from)
	return s + "    "
}

// before returns the blanks at the start of the line that an offset stands in, and
// whether nothing else stands between.
func (c *located) before(at int) (blanks string, alone bool) {
	line := c.text[strings.LastIndexByte(c.text[:at], '\n')+1 : at]
	rest := strings.TrimLeft(line, " \t")
	return line[:len(line)-len(rest)], rest == ""
}

// indented returns a directive's text, its further lines moved to where it goes. A text
// with a word of several lines stays as it is: blanks in quotes are part of the word.
func (c *located) indented(s span, indent string) string {
	have, _ := c.before(s.from)
	for i := range c.Config {
		if in := c.spans[i]; in.from >= s.from && in.end <= s.end &&
			strings.Contains(strings.Join(c.Config[i].Words, ""), "\n") {
			return c.text[s.from:s.end]
		}
	}
	lines := strings.Split(c.text[s.from:s.end], "\n")
	for i := 1; i < len(lines); i++ {
		lines[i] = indent + strings.TrimPrefix(lines[i], have)
	}
	return strings.Join(lines, "\n")
}

// removal takes a directive away, with its line when nothing else stands there.
func (c *located) removal(s span) change {
	blanks, alone := c.before(s.from)
	rest, _, found := strings.Cut(c.text[s.end:], "\n")
	if alone && found && strings.TrimSpace(rest) == "" {
		return change{s.from - len(blanks), s.end + len(rest) + 1, ""}
	}
	return change{s.from, s.end, ""}
}

// insertion puts lines into a block: at its end, where what depends on the order, such
// as keepalive after servers, is right; at the beginning of http and the top, where
// formats and maps come before those who use them.
func (c *located) insertion(block int, lines string) change {
	switch {
	case block < 0:
		return change{0, 0, lines}
	case c.Config[block].Name() == "http":
		at := c.spans[block].inner
		return change{at, at, "\n" + strings.TrimSuffix(lines, "\n") + newlineUnless(c.text[at:])}
	}
	at := c.spans[block].end - 1 // the closing brace
	blanks, alone := c.before(at)
	if alone {
		at -= len(blanks)
		return change{at, at, lines}
	}
	outer, _ := c.before(c.spans[block].from)
	return change{at, at, "\n" + lines + outer}
}

// newlineUnless returns a line's end unless the rest of the line is empty.
func newlineUnless(rest string) string {
	line, _, _ := strings.Cut(rest, "\n")
	if strings.TrimSpace(line) == "" {
		return ""
	}
	return "\n"
}
