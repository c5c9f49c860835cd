// Package nginxconf reads configurations of nginx.
//
// The one idea: a configuration is a list of directives, each of which knows the
// block that it stands in. [Parse] reads text, also what nginx -T prints; [Read]
// reads a file with all that it includes. The package knows the meaning of one
// directive, include, and it does not expand variables. [Edit] puts directives into a
// block of a text and leaves all else of it as it is.
//
// Sources: nginx "Beginner's Guide", Configuration File's Structure; quoting as
// ngx_conf_read_token does it; include as ngx_conf_include does it.
package nginxconf

import (
	"fmt"
	"strings"
)

// A Directive is one statement of a configuration.
type Directive struct {
	File   string // that it stands in; empty when it is not known
	Line   int    // where its name stands, from 1
	Words  []string
	Parent int  // index of the block's directive that it stands in; -1 for none
	Depth  int  // how many blocks it stands in
	Block  bool // it opens a block
}

// Name returns the first word.
func (d *Directive) Name() string { return d.Words[0] }

// A Config is a list of directives, in the order in which nginx reads them: what
// stands in a block follows the directive that opens it.
type Config []Directive

// A SyntaxError says where a configuration cannot be read.
type SyntaxError struct {
	File    string
	Line    int
	Problem string
	Cut     bool // there is more of it than is read: what follows is left out
}

// maxDirectives and maxServers bound what is read of one configuration, with all that it
// includes: it may be a stranger's.
const (
	maxDirectives = 20000
	maxServers    = 2000 // server blocks
)

// A tally counts what was read of a configuration.
type tally struct{ directives, servers int }

// add counts a directive and reports whether it is still within the limits.
func (t *tally) add(d *Directive) bool {
	t.directives++
	if d.Block && d.Name() == "server" {
		t.servers++
	}
	return t.directives <= maxDirectives && t.servers <= maxServers
}

// errCut is the error of a configuration that goes on at a directive.
func errCut(file string, line int) *SyntaxError {
	return &SyntaxError{File: file, Line: line, Cut: true, Problem: fmt.Sprintf("what follows the first %d directives "+
		"or %d server blocks is left out", maxDirectives, maxServers)}
}

// Error names the file, the line and the problem.
func (e *SyntaxError) Error() string {
	return fmt.Sprintf("nginx configuration %s:%d: %s", e.File, e.Line, e.Problem)
}

// marker begins each file in what nginx -T prints.
const marker = "# configuration file "

// IsDump reports whether the text is what nginx -T prints: all files of a
// configuration, one after another.
func IsDump(text string) bool {
	return strings.HasPrefix(text, marker) || strings.Contains(text, "\n"+marker)
}

// Parse reads a configuration or a dump of nginx -T. It goes on after what
// nginx would refuse, such as a block or a quote that is not closed; the error
// is a [*SyntaxError] that names the first such place, or where it was cut.
func Parse(text, file string) (Config, error) {
	p := parser{text: text, file: file, line: 1, parent: -1}
	p.run()
	if p.err == nil {
		return p.out, nil
	}
	return p.out, p.err
}

// A parser reads one text.
type parser struct {
	text string
	at   int
	file string
	line int

	words  []string
	begun  int // line of the first word
	parent int // block that the next directive stands in
	depth  int
	out    Config
	err    *SyntaxError
	count  tally

	begunAt int    // offset of the first word
	spans   []span // of each directive of out
}

// A span is where a directive stands in the text, in bytes.
type span struct {
	from  int // its first word
	inner int // after the opening brace of its block; of others its end
	end   int // after its semicolon or closing brace
}

func (p *parser) fail(line int, problem string) {
	if p.err == nil {
		p.err = &SyntaxError{File: p.file, Line: line, Problem: problem}
	}
}

func (p *parser) run() {
	for p.at < len(p.text) {
		switch p.text[p.at] {
		case '\n':
			p.line++
			p.at++
		case ' ', '\t', '\r':
			p.at++
		case ';':
			if len(p.words) == 0 {
				p.fail(p.line, `unexpected ";"`)
			}
			p.flush(false)
			p.at++
		case '{':
			p.open()
			p.at++
		case '}':
			p.unfinished()
			p.close()
			p.at++
		case '#':
			p.comment()
		default:
			if len(p.words) == 0 {
				p.begun, p.begunAt = p.line, p.at
			}
			p.words = append(p.words, p.word())
		}
	}
	p.unfinished()
	p.unclosed()
}

// flush ends a directive.
func (p *parser) flush(block bool) {
	if len(p.words) > 0 {
		d := Directive{File: p.file, Line: p.begun, Words: p.words, Parent: p.parent, Depth: p.depth, Block: block}
		if !p.count.add(&d) {
			p.err, p.at = errCut(p.file, p.begun), len(p.text) // that counts more than an earlier fault
			p.words = nil
			return
		}
		p.out = append(p.out, d)
		p.spans = append(p.spans, span{p.begunAt, p.at + 1, p.at + 1})
	}
	p.words = nil
}

// unfinished ends a directive that has no semicolon.
func (p *parser) unfinished() {
	if len(p.words) > 0 {
		p.fail(p.begun, fmt.Sprintf("%q is not terminated by \";\"", p.words[0]))
	}
	p.flush(false)
}

func (p *parser) open() {
	if len(p.words) == 0 {
		p.fail(p.line, `unexpected "{"`)
		p.words, p.begun = []string{""}, p.line // so that what stands in it has a parent
	}
	if p.flush(true); p.at == len(p.text) {
		return
	}
	p.parent = len(p.out) - 1
	p.depth++
}

func (p *parser) close() {
	if p.depth == 0 {
		p.fail(p.line, `unexpected "}"`)
		return
	}
	p.spans[p.parent].end = p.at + 1
	p.parent = p.out[p.parent].Parent
	p.depth--
}

// unclosed ends the blocks that are open at the end of a file.
func (p *parser) unclosed() {
	if p.depth > 0 {
		d := &p.out[p.parent]
		p.fail(d.Line, fmt.Sprintf("the block of %q is not closed by \"}\"", d.Name()))
	}
	p.parent, p.depth = -1, 0
}

// comment skips the rest of the line. A marker begins another file.
func (p *parser) comment() {
	line := p.text[p.at:]
	if end := strings.IndexByte(line, '\n'); end >= 0 {
		line = line[:end]
	}
	atStart := p.at == 0 || p.text[p.at-1] == '\n'
	if name, ok := strings.CutPrefix(line, marker); ok && atStart {
		p.unfinished()
		p.unclosed()
		p.file, p.line = strings.TrimSuffix(strings.TrimSpace(name), ":"), 0 // the next line is the first
	}
	p.at += len(line)
}

// word reads one word, at least one byte. In ${name} the braces belong to the
// word.
func (p *parser) word() string {
	s := p.text[p.at:]
	if s[0] == '"' || s[0] == '\'' {
		return p.quoted(s)
	}
	n := 0
	for n < len(s) && !strings.ContainsRune(" \t\r\n;{", rune(s[n])) {
		switch {
		case s[n] == '$' && n+1 < len(s) && s[n+1] == '{':
			n += 2
		case s[n] == '\\' && n+1 < len(s):
			if s[n+1] == '\n' {
				p.line++
			}
			n += 2
		default:
			n++
		}
	}
	p.at += n
	return s[:n]
}

// quoted reads a word in quotes, without them.
func (p *parser) quoted(s string) string {
	var b strings.Builder
	begun := p.line
	for i := 1; i < len(s); i++ {
		switch {
		case s[i] == s[0]:
			p.at += i + 1
			return b.String()
		case s[i] == '\\' && i+1 < len(s):
			i++
			b.WriteString(unescape(s[i]))
		default:
			b.WriteByte(s[i])
		}
		if s[i] == '\n' {
			p.line++
		}
	}
	p.fail(begun, "a quote is not closed")
	p.at = len(p.text)
	return b.String()
}

// unescape resolves an escape inside of quotes.
func unescape(c byte) string {
	switch c {
	case 't':
		return "\t"
	case 'r':
		return "\r"
	case 'n':
		return "\n"
	case '"', '\'', '\\':
		return string([]byte{c})
	}
	return `\` + string([]byte{c})
}
