package sqlshape

import (
	"bytes"
	"slices"
	"strings"
)

// maxTables bounds the tables named of one statement.
const maxTables = 16

// Verb returns what the statement does, in upper case: SELECT, INSERT, UPDATE,
// COMMIT … or ADMIN for an administrator command. A statement that starts with
// WITH is what comes after its table expressions. It is empty when the
// statement does not start with a word.
func Verb(sql []byte) string {
	if bytes.HasPrefix(sql, []byte("administrator command: ")) {
		return "ADMIN"
	}
	l := NewLexer(sql)
	t := l.Next()
	for t.IsSymbol('(') {
		t = l.Next()
	}
	if t.Is("with") {
		if main := mainVerb(&l); main != nil {
			return strings.ToUpper(string(main))
		}
	}
	if t.Kind != Word || len(t.Text) > 20 {
		return ""
	}
	return strings.ToUpper(string(t.Text))
}

// mainVerb returns the verb after the table expressions of a WITH.
func mainVerb(l *Lexer) []byte {
	for depth := 0; ; {
		switch t := l.Next(); {
		case t.Kind == End:
			return nil
		case t.IsSymbol('('):
			depth++
		case t.IsSymbol(')'):
			depth--
		case depth == 0 && (t.Is("select") || t.Is("insert") || t.Is("update") || t.Is("delete") || t.Is("replace")):
			return t.Text
		}
	}
}

// Tables returns the tables that the statement names, without quotes, as
// written, each once, in the order in which they first stand there. Names made
// by WITH are left out.
func Tables(sql []byte) []string {
	f := tableFinder{lex: NewLexer(sql), with: withNames(sql)}
	f.run()
	return f.tables
}

// withNames returns the names that WITH defines: those before AS ( SELECT, with
// or without a list of columns between.
func withNames(sql []byte) []string {
	var names []string
	var name, listed, prev, last Token // the last two tokens before t, oldest first
	l := NewLexer(sql)
	for t := l.Next(); t.Kind != End; t = l.Next() {
		switch {
		case t.IsSymbol('('):
			if prev.Kind == Word || prev.Kind == Name {
				listed = prev
			}
		case t.Is("as"):
			name = prev
			if prev.IsSymbol(')') {
				name = listed
			}
		case t.Is("select") && prev.IsSymbol('(') && last.Is("as") && len(names) < maxTables:
			names = append(names, string(name.Unquoted()))
		}
		last, prev = prev, t
	}
	return names
}

// tableFinder walks over a statement.
type tableFinder struct {
	lex    Lexer
	prev   Token
	cur    Token
	sel    uint64 // bit d: the parenthesis at depth d holds a SELECT or DELETE
	from   uint64 // bit d: at depth d a list of tables goes on
	depth  int
	tables []string
	with   []string
}

func (f *tableFinder) next() Token {
	f.prev, f.cur = f.cur, f.lex.Next()
	return f.cur
}

func (f *tableFinder) run() {
	f.next()
	for f.cur.IsSymbol('(') {
		f.open()
		f.next()
	}
	f.first()
	for f.cur.Kind != End {
		f.step()
	}
}

// first reads the verb.
func (f *tableFinder) first() {
	switch {
	case f.cur.Is("insert") || f.cur.Is("replace"):
		for f.next(); f.modifier() || f.cur.Is("into"); f.next() {
		}
		f.name()
	case f.cur.Is("update"):
		for f.next(); f.modifier(); f.next() {
		}
		f.list()
	case f.cur.Is("truncate") || f.cur.Is("desc") || f.cur.Is("describe"):
		if f.next(); f.cur.Is("table") {
			f.next()
		}
		f.name()
	case f.cur.Is("show") || f.cur.Is("delete"):
		f.sel |= f.bit()
		f.next()
	case f.cur.Is("call") || f.cur.Is("set") || f.cur.Is("grant") || f.cur.Is("administrator"):
		f.cur = Token{}
	}
}

func (f *tableFinder) modifier() bool {
	return f.cur.Is("ignore") || f.cur.Is("low_priority") || f.cur.Is("high_priority") || f.cur.Is("delayed")
}

func (f *tableFinder) bit() uint64 { return 1 << min(f.depth, 63) }

func (f *tableFinder) open() {
	f.depth++
	f.sel &^= f.bit()
	f.from &^= f.bit()
}

// step reads one token, or a list of tables after one.
func (f *tableFinder) step() {
	switch t := f.cur; {
	case t.IsSymbol('('):
		f.open()
		f.next()
	case t.IsSymbol(')'):
		f.depth = max(f.depth-1, 0)
		f.next()
	case t.Is("select"):
		f.sel |= f.bit()
		f.next()
	case t.Is("delete"):
		f.sel |= f.bit()
		f.next()
	case t.Is("from") && f.sel&f.bit() != 0, t.Is("table") || t.Is("tables"):
		f.from |= f.bit()
		f.next()
		f.skipExists()
		f.list()
	case t.IsSymbol(',') && f.from&f.bit() != 0: // after a derived table or a lock
		f.next()
		f.list()
	case t.Is("join"):
		f.next()
		f.name()
	case t.Is("into"):
		if f.next(); f.cur.Is("outfile") || f.cur.Is("dumpfile") || f.cur.Is("table") {
			return
		}
		f.name()
	case t.Is("update") && !f.prev.Is("for") && !f.prev.Is("key"):
		f.next()
		f.list()
	default:
		if isClause(t) && !t.Is("on") && !t.Is("using") && !t.Is("read") && !t.Is("write") {
			f.from &^= f.bit()
		}
		f.next()
	}
}

// skipExists skips IF [NOT] EXISTS.
func (f *tableFinder) skipExists() {
	if f.cur.Is("if") {
		for f.next(); f.cur.Is("not") || f.cur.Is("exists"); f.next() {
		}
	}
}

// list reads tables with commas between them, each with an alias or not.
func (f *tableFinder) list() {
	for f.name() {
		if f.cur.Is("as") {
			f.next()
		}
		if (f.cur.Kind == Word || f.cur.Kind == Name) && !isClause(f.cur) {
			f.next()
		}
		if !f.cur.IsSymbol(',') {
			return
		}
		f.next()
	}
}

// isClause reports whether the word goes on with the statement and is no alias.
func isClause(t Token) bool {
	for _, w := range [...]string{
		"where", "set", "join", "left", "right", "inner", "cross", "natural", "straight_join", "on", "using",
		"group", "order", "limit", "having", "union", "for", "lock", "use", "force", "ignore", "values", "select",
		"partition", "window", "read", "write", "procedure", "into", "add", "drop", "change", "modify",
	} {
		if t.Is(w) {
			return t.Kind == Word
		}
	}
	return false
}

// name reads one table name, qualified or not, and keeps it.
func (f *tableFinder) name() bool {
	if f.cur.Kind != Name && (f.cur.Kind != Word || isClause(f.cur) || f.cur.Text[0] == '@') {
		return false
	}
	name := string(f.cur.Unquoted())
	f.next()
	for f.cur.IsSymbol('.') {
		if f.next(); f.cur.Kind != Name && f.cur.Kind != Word {
			break
		}
		name += "." + string(f.cur.Unquoted())
		f.next()
	}
	if len(f.tables) < maxTables && !strings.EqualFold(name, "dual") &&
		!slices.Contains(f.tables, name) && !slices.Contains(f.with, name) {
		f.tables = append(f.tables, name)
	}
	return true
}
