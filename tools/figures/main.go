// Command figures prints how the house is built, in figures: folders at the top, lines by
// room, the largest packages, wide structs, names of one word, long lines, words that are
// not used, lines that stand twice. With -check it ends with 1 where a bound is passed.
package main

import (
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/kasoku/kasoku/internal/test/words"
)

// The bounds of -check.
const (
	mostRooms     = 29   // with the rooms that are planned
	mostLines     = 5500 // of a package without its tests, labs apart
	mostFields    = 20
	mostMethods   = 30
	mostColumns   = 120
	mostLong      = 0.003 // of the lines
	mostOneWord   = 0.20  // of the package-level functions
	mostTwice     = 10    // pieces of code
	twiceAsLong   = 10    // lines of such a piece
	shownOfAFault = 8
)

// house is what was counted.
type house struct {
	rooms    map[string]int // lines of Go, tests with it
	packages map[string]int // lines without tests
	functions,
	oneWord int
	lines, tests, long int // of code, of tests, longer than mostColumns
	wide               []string
	unwanted           *words.List // those of CONTRIBUTING.md
	words              int
	wordsAt            map[string]int // file
	methods            map[string]int // package.Type
	fields             map[string]int
	stateful           map[string]bool     // package.Type with a hidden field, or a method that writes to it
	pieces             map[string][]string // text of twiceAsLong lines: where
	signals            map[string]bool     // keys that sources declare, of several words
	literals           map[string][]string // strings of packages that read recordings: where
	doers              map[string][]string // what one package does: the packages that do it
}

// ones are what one package does for all, each with the text that gives away who does it.
// Not looked at: plugins, labs, what imitates other tools.
var ones = []struct {
	what string
	mark *regexp.Regexp
	most int
}{
	{"readers of /proc/PID/stat", regexp.MustCompile(`LastIndexByte\(\w+, '\)'\)`), 1},
	{"growth of a counter", regexp.MustCompile(`func Growth\[`), 1},
	{"scanners of quoted SQL", regexp.MustCompile(`func (QuotedEnd|ClosingQuote)\(`), 1},
	{"readers of a server's status", regexp.MustCompile(`"/\* kasoku \*/ SHOW GLOBAL STATUS"`), 1},
}

// others are directories whose programs are not kasoku.
var others = regexp.MustCompile(`^(labs|bench|compat|tools|internal/test|cmd/(mackerel|check)-[^/]*)(/|$)`)

// addDoers keeps who does what one package does.
func (h *house) addDoers(dir, src string) {
	if others.MatchString(dir) {
		return
	}
	for _, one := range ones {
		if one.mark.MatchString(src) && !slices.Contains(h.doers[one.what], dir) {
			h.doers[one.what] = append(h.doers[one.what], dir)
		}
	}
}

func main() {
	check := flag.Bool("check", false, "end with 1 where a bound is passed")
	flag.Parse()
	h := &house{rooms: map[string]int{}, packages: map[string]int{}, wordsAt: map[string]int{},
		methods: map[string]int{}, fields: map[string]int{}, stateful: map[string]bool{}, pieces: map[string][]string{},
		signals: map[string]bool{}, literals: map[string][]string{}, doers: map[string][]string{}}
	if err := h.readWords(); err != nil {
		fmt.Fprintln(os.Stderr, "figures:", err)
		os.Exit(3)
	}
	if err := fs.WalkDir(os.DirFS("."), ".", h.walk); err != nil {
		fmt.Fprintln(os.Stderr, "figures:", err)
		os.Exit(3)
	}
	if faults := h.print(); *check && faults > 0 {
		os.Exit(1)
	}
}

// readWords reads the words that are not used; TestWords finds them outside of comments,
// too.
func (h *house) readWords() error {
	text, err := os.ReadFile("CONTRIBUTING.md")
	if err != nil {
		return err
	}
	h.unwanted, err = words.Read(string(text))
	return err
}

func (h *house) walk(name string, d fs.DirEntry, err error) error {
	switch base := path.Base(name); {
	case err != nil:
		return err
	case d.IsDir() && name != "." && (base == "testdata" || strings.HasPrefix(base, ".") || base == "node_modules"):
		return fs.SkipDir
	case d.IsDir() || path.Ext(name) != ".go":
		return nil
	}
	src, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	return h.addFile(name, string(src))
}

// addFile counts a file.
func (h *house) addFile(name, src string) error {
	room, _, below := strings.Cut(name, "/")
	if !below {
		room = "."
	}
	n := strings.Count(src, "\n")
	h.rooms[room] += n
	if strings.HasSuffix(name, "_test.go") {
		h.tests += n
		return nil
	}
	h.lines += n
	dir := path.Dir(name)
	h.packages[dir] += n
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, name, src, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	for _, group := range file.Comments {
		if found := len(h.unwanted.Find(group.Text())); found > 0 {
			h.words += found
			h.wordsAt[name] += found
		}
	}
	h.addDeclarations(dir, file)
	h.addSignals(name, set, file)
	h.addLines(name, src)
	h.addDoers(dir, src)
	return nil
}

// readers are the rooms that read what sources recorded.
var readers = []string{"checkpoint", "cmd/kasoku", "compare", "config", "diagnose", "export", "prove", "record",
	"report", "store", "watch"}

// addSignals keeps the keys that a source declares, and the strings of packages that may
// type one again; arch_signals_test.go names each of these.
func (h *house) addSignals(name string, set *token.FileSet, file *ast.File) {
	declares := strings.HasPrefix(name, "observe/") && path.Base(name) == "signals.go"
	reads := slices.ContainsFunc(readers, func(room string) bool { return strings.HasPrefix(name, room+"/") })
	if !declares && !reads {
		return
	}
	ast.Inspect(file, func(n ast.Node) bool {
		if _, ok := n.(*ast.CompositeLit); ok && declares {
			return false // what is said of the keys
		}
		if _, ok := n.(*ast.ImportSpec); ok {
			return false
		}
		lit, ok := n.(*ast.BasicLit)
		if !ok || lit.Kind != token.STRING {
			return true
		}
		key := strings.Trim(lit.Value, "\"`")
		if !strings.ContainsAny(key, "._/") && (len(key) < 2 || strings.ToLower(key[1:]) == key[1:]) {
			return true // one word, which may be another thing
		}
		if key == "max_connections" {
			return true // of memcached; a setting of MySQL, too
		}
		if declares {
			h.signals[key] = true
		} else {
			h.literals[key] = append(h.literals[key], set.Position(lit.Pos()).String())
		}
		return true
	})
}

var oneWord = regexp.MustCompile(`^[a-z0-9]+$`)

// addDeclarations counts functions, methods and fields.
func (h *house) addDeclarations(dir string, file *ast.File) {
	for _, decl := range file.Decls {
		if fn, ok := decl.(*ast.FuncDecl); ok {
			switch {
			case fn.Recv != nil:
				receiver := fn.Recv.List[0].Type
				name := dir + "." + typeName(receiver)
				h.methods[name]++
				if _, pointer := receiver.(*ast.StarExpr); pointer && assignsReceiver(fn) {
					h.stateful[name] = true
				}
			case fn.Name.Name != "main" && fn.Name.Name != "init":
				h.functions++
				if oneWord.MatchString(fn.Name.Name) {
					h.oneWord++
				}
			}
		}
	}
	ast.Inspect(file, func(n ast.Node) bool {
		if spec, ok := n.(*ast.TypeSpec); ok {
			if s, ok := spec.Type.(*ast.StructType); ok {
				name := dir + "." + spec.Name.Name
				for _, f := range s.Fields.List {
					h.fields[name] += max(len(f.Names), 1)
					if slices.ContainsFunc(f.Names, func(n *ast.Ident) bool { return !n.IsExported() }) {
						h.stateful[name] = true
					}
				}
				if strings.HasSuffix(name, "Options") { // what decides is no record of what was
					h.stateful[name] = true
				}
			}
		}
		return true
	})
}

// assignsReceiver reports whether a method writes to a field of its receiver.
func assignsReceiver(fn *ast.FuncDecl) (assigns bool) {
	names := fn.Recv.List[0].Names
	if len(names) == 0 || fn.Body == nil {
		return false
	}
	root := func(e ast.Expr) string {
		for {
			switch at := e.(type) {
			case *ast.SelectorExpr:
				e = at.X
			case *ast.IndexExpr:
				e = at.X
			case *ast.StarExpr:
				e = at.X
			case *ast.Ident:
				return at.Name
			default:
				return ""
			}
		}
	}
	ast.Inspect(fn.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			for _, left := range n.Lhs {
				if _, plain := left.(*ast.Ident); !plain && root(left) == names[0].Name {
					assigns = true
				}
			}
		case *ast.IncDecStmt:
			assigns = assigns || root(n.X) == names[0].Name
		}
		return true
	})
	return assigns
}

// typeName is the name of a receiver's type.
func typeName(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.StarExpr:
		return typeName(e.X)
	case *ast.IndexExpr:
		return typeName(e.X)
	case *ast.IndexListExpr:
		return typeName(e.X)
	case *ast.Ident:
		return e.Name
	}
	return "?"
}

// addLines counts long lines and keeps pieces of code, to find those that stand twice.
// Braces, blanks and imports make no piece.
func (h *house) addLines(name, src string) {
	var piece []string
	inImports := false
	for number, line := range strings.Split(src, "\n") {
		if utf8.RuneCountInString(strings.ReplaceAll(line, "\t", "    ")) > mostColumns && !longString.MatchString(line) {
			h.long++
		}
		text := strings.TrimSpace(line)
		if text == "import (" {
			inImports = true
		}
		if inImports {
			inImports = text != ")"
			continue
		}
		if len(text) < 3 || strings.HasPrefix(text, "//") {
			continue
		}
		if piece = append(piece, text); len(piece) >= twiceAsLong {
			key := strings.Join(piece[len(piece)-twiceAsLong:], "\n")
			h.pieces[key] = append(h.pieces[key], fmt.Sprintf("%s:%d", name, number+1))
		}
	}
}

// longString is a string constant, such as the prose of a finding, that no line holds.
var longString = regexp.MustCompile("\"(?:[^\"\\\\]|\\\\.){60,}\"|`[^`]{60,}")

// twice returns the pairs of files with equal pieces, each with the first place in both.
func (h *house) twice() []string {
	first := map[string]string{}
	line := regexp.MustCompile(`:\d+`)
	for _, at := range h.pieces {
		if len(at) < 2 {
			continue
		}
		slices.Sort(at)
		place := at[0] + " and " + at[1]
		pair := line.ReplaceAllString(place, "")
		if old, ok := first[pair]; !ok || place < old {
			first[pair] = place
		}
	}
	return slices.Sorted(maps.Values(first))
}

// print prints the table, and returns how many bounds are passed.
func (h *house) print() (faults int) {
	row := func(what, is, bound string, passed bool, which []string) {
		mark := "ok"
		if passed {
			mark = "PASSED"
			faults++
		}
		fmt.Printf("%-52s %12s  %-10s %s\n", what, is, bound, mark)
		if passed {
			for _, w := range which[:min(len(which), shownOfAFault)] {
				fmt.Println("    " + w)
			}
		}
	}
	rooms := h.topFolders()
	row("folders at the top", fmt.Sprint(rooms), fmt.Sprint("≤ ", mostRooms), rooms > mostRooms, nil)
	var large []string
	for dir, n := range h.packages {
		if n > mostLines && !strings.HasPrefix(dir, "labs/") {
			large = append(large, fmt.Sprintf("%s %d", dir, n))
		}
	}
	slices.Sort(large)
	row("packages of more lines without tests", fmt.Sprint(len(large)), fmt.Sprint("0 > ", mostLines), len(large) > 0, large)
	share := float64(h.oneWord) / float64(max(h.functions, 1))
	row("package-level functions of one lower-case word", fmt.Sprintf("%.1f %%", 100*share), "≤ 20 %", share > mostOneWord, nil)
	wide := slices.DeleteFunc(widerThan(h.fields, mostFields), func(w string) bool { return !h.stateful[w[strings.LastIndexByte(w, ' ')+1:]] })
	row("structs of more than 20 fields, not plain data", fmt.Sprint(len(wide)), "0", len(wide) > 0, wide)
	many := widerThan(h.methods, mostMethods)
	row("types of more than 30 methods", fmt.Sprint(len(many)), "0", len(many) > 0, many)
	long := float64(h.long) / float64(max(h.lines, 1))
	row("lines over 120 columns", fmt.Sprintf("%.2f %%", 100*long), "≤ 0.3 %", long > mostLong, nil)
	var worst []string
	for name, n := range h.wordsAt {
		worst = append(worst, fmt.Sprintf("%3d %s", n, name))
	}
	slices.Sort(worst)
	slices.Reverse(worst)
	row("words that are not used", fmt.Sprint(h.words), "0", h.words > 0, worst)
	var typed []string
	for key := range h.signals {
		for _, at := range h.literals[key] {
			typed = append(typed, at+" "+key)
		}
	}
	slices.Sort(typed)
	row("series names typed outside of their source", fmt.Sprint(len(typed)), "0", len(typed) > 0, typed)
	twice := h.twice()
	row("pairs of files with 10 equal lines", fmt.Sprint(len(twice)), "≤ 10", len(twice) > mostTwice, twice)
	for _, one := range ones {
		n := len(h.doers[one.what])
		row(one.what, fmt.Sprint(n), fmt.Sprint("≤ ", one.most), n > one.most, h.doers[one.what])
	}
	fmt.Printf("\n%d lines of Go, %d of tests with them\n", h.lines, h.tests)
	var names []string
	for room := range h.rooms {
		names = append(names, room)
	}
	slices.Sort(names)
	for _, room := range names {
		fmt.Printf("  %-14s %7d\n", room, h.rooms[room])
	}
	return faults
}

// topFolders counts the directories with Go in them, and docs.
func (h *house) topFolders() int {
	n := len(h.rooms) - 1 // without the root
	if st, err := os.Stat("docs"); err == nil && st.IsDir() {
		n++
	}
	return n
}

// widerThan returns the names that are counted more often than most, the widest first.
func widerThan(counts map[string]int, most int) (out []string) {
	for name, n := range counts {
		if n > most {
			out = append(out, fmt.Sprintf("%3d %s", n, name))
		}
	}
	slices.Sort(out)
	slices.Reverse(out)
	return out
}
