package kasoku_test

import (
	"bytes"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// A tree is what the checks know of the module: it is read with go/parser, for
// every platform and build tag, without running go list.
type tree struct {
	module   string
	requires []string // module paths in go.mod
	files    []goFile
}

type goFile struct {
	path    string // slash separated, from the root
	dir     string // "." for the root
	pkg     string // package name
	test    bool
	doc     bool // has a package comment
	lines   int
	imports []string
	uses    []string // of imported names, such as "syscall.RawSyscall"; "syscall.*" for a dot import
}

// scan reads the Go files of the module at the root of fsys. Like the go command
// it leaves out testdata, names that begin with a dot or an underscore, and
// modules below.
func scan(fsys fs.FS) (*tree, error) {
	mod, err := fs.ReadFile(fsys, "go.mod")
	if err != nil {
		return nil, err
	}
	tr := &tree{}
	tr.module, tr.requires = parseMod(string(mod))
	err = fs.WalkDir(fsys, ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case errors.Is(err, fs.ErrPermission) || errors.Is(err, fs.ErrNotExist):
			return fs.SkipDir // a server's private data below demo/, or gone by now
		case err != nil:
			return err
		case d.IsDir() && name != "." && skipDir(fsys, name):
			return fs.SkipDir
		case d.IsDir() || path.Ext(name) != ".go" || strings.ContainsRune("._", rune(path.Base(name)[0])):
			return nil
		}
		f, err := scanFile(fsys, name)
		tr.files = append(tr.files, f)
		return err
	})
	return tr, err
}

func skipDir(fsys fs.FS, name string) bool {
	base := path.Base(name)
	_, err := fs.Stat(fsys, path.Join(name, "go.mod"))
	return base == "testdata" || base == "vendor" || base[0] == '.' || base[0] == '_' || err == nil
}

var modRequire = regexp.MustCompile(`(?m)^(?:require)?\s+(\S+\.\S+)\s+v\S+`)

func parseMod(mod string) (module string, requires []string) {
	for line := range strings.Lines(mod) {
		if m, ok := strings.CutPrefix(strings.TrimSpace(line), "module "); ok {
			module = strings.TrimSpace(m)
		}
	}
	for _, m := range modRequire.FindAllStringSubmatch(mod, -1) {
		requires = append(requires, m[1])
	}
	return module, requires
}

func scanFile(fsys fs.FS, name string) (goFile, error) {
	src, err := fs.ReadFile(fsys, name)
	if err != nil {
		return goFile{}, err
	}
	f := goFile{path: name, dir: path.Dir(name), test: strings.HasSuffix(name, "_test.go"), lines: bytes.Count(src, []byte("\n"))}
	mode := parser.ParseComments | parser.SkipObjectResolution
	if f.test {
		mode |= parser.ImportsOnly
	}
	parsed, err := parser.ParseFile(token.NewFileSet(), name, src, mode)
	if err != nil {
		return f, err
	}
	f.pkg, f.doc = parsed.Name.Name, strings.TrimSpace(parsed.Doc.Text()) != ""
	local := map[string]string{} // name in the file to import path
	for _, spec := range parsed.Imports {
		p, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			return f, err
		}
		f.imports = append(f.imports, p)
		switch {
		case spec.Name == nil:
			local[path.Base(p)] = p
		case spec.Name.Name == ".":
			f.uses = append(f.uses, p+".*")
		default:
			local[spec.Name.Name] = p
		}
	}
	ast.Inspect(parsed, func(n ast.Node) bool {
		if sel, ok := n.(*ast.SelectorExpr); ok {
			if x, ok := sel.X.(*ast.Ident); ok && local[x.Name] != "" {
				f.uses = append(f.uses, local[x.Name]+"."+sel.Sel.Name)
			}
		}
		return true
	})
	return f, nil
}

// inModule returns the directory of an import path of the module.
func (tr *tree) inModule(importPath string) (dir string, ok bool) {
	if importPath == tr.module {
		return ".", true
	}
	return strings.CutPrefix(importPath, tr.module+"/")
}

// floors is the table; the first row that fits a directory counts.
type floors []floorRow

type floorRow struct {
	floor int
	dir   string // pattern of path.Match
}

// of returns the floor of a directory.
func (fl floors) of(dir string) (floor int, ok bool) {
	if owner, _, ok := strings.Cut(dir, "/internal/"); ok {
		dir = owner
	}
	if parent := path.Dir(dir); path.Base(dir) == path.Base(parent)+"test" {
		dir = parent
	}
	for _, row := range fl {
		if fits, _ := path.Match(row.dir, dir); fits {
			return row.floor, true
		}
	}
	return 0, false
}

// refuse returns why a file in from may not import to, empty when it may.
func (fl floors) refuse(from, to string, test bool) string {
	fromFloor, ok := fl.of(from)
	if !ok {
		return from + " is on no floor: add it to floorTable"
	}
	toFloor, ok := fl.of(to)
	owner, _, private := strings.Cut(to, "/internal/")
	switch {
	case from == to:
		return ""
	case !ok:
		return to + " is on no floor: add it to floorTable"
	case top(to) == "cmd" && !(private && within(from, owner)):
		return "nothing imports cmd/"
	case test:
		return ""
	case forTests(to) && !forTests(from):
		return "only tests import a helper for tests"
	case private && within(from, owner):
		return ""
	case toFloor < fromFloor:
		return ""
	case toFloor == fromFloor && top(from) == top(to) && top(to) != "internal" && within(to, from):
		return "a parent never imports a child of its floor"
	case toFloor == fromFloor && top(from) == top(to) && (top(to) != "internal" || forTests(from) && forTests(to)):
		return ""
	}
	return fmt.Sprintf("floor %d imports floor %d: imports go down", fromFloor, toFloor)
}

// check returns the breaches of the floors.
func (fl floors) check(tr *tree) (breaches []string) {
	edges := 0
	for _, f := range tr.files {
		if _, ok := fl.of(f.dir); !ok {
			breaches = append(breaches, f.path+": "+f.dir+" is on no floor: add it to floorTable")
			continue
		}
		for _, p := range f.imports {
			to, ok := tr.inModule(p)
			if !ok {
				continue
			}
			edges++
			if why := fl.refuse(f.dir, to, f.test); why != "" {
				breaches = append(breaches, fmt.Sprintf("%s imports %s: %s", f.path, to, why))
			}
		}
	}
	if edges == 0 {
		breaches = append(breaches, fmt.Sprintf("no file imports anything below %q: nothing was checked", tr.module))
	}
	return breaches
}

// checkSeparation returns the directories that both groups import, or one is of the
// other. Tests are free.
func checkSeparation(tr *tree, s separation) (breaches []string) {
	one, other := tr.closure(strings.Fields(s.one)), tr.closure(strings.Fields(s.other))
	for _, dir := range strings.Fields(s.one + " " + s.other) {
		if !slices.ContainsFunc(tr.files, func(f goFile) bool { return f.dir == dir }) {
			breaches = append(breaches, "separation: "+dir+" is not there")
		}
	}
	for dir := range one {
		if other[dir] && within(dir, s.top) && !slices.Contains(strings.Fields(s.but), dir) {
			breaches = append(breaches, fmt.Sprintf("%s is used by one of %s and by one of %s: they must not share it", dir, s.one, s.other))
		}
	}
	slices.Sort(breaches)
	return breaches
}

// closure returns the directories, and all that they import without their tests.
func (tr *tree) closure(dirs []string) map[string]bool {
	seen := map[string]bool{}
	for len(dirs) > 0 {
		dir := dirs[0]
		if dirs = dirs[1:]; seen[dir] {
			continue
		}
		seen[dir] = true
		for _, f := range tr.files {
			if f.dir != dir || f.test {
				continue
			}
			for _, p := range f.imports {
				if to, ok := tr.inModule(p); ok {
					dirs = append(dirs, to)
				}
			}
		}
	}
	return seen
}

// forTests reports whether the directory is a helper for tests, such as
// internal/test/golden or, by its name, sandbox/sandboxtest.
func forTests(dir string) bool {
	return path.Dir(dir) == "internal/test" || path.Base(dir) == path.Base(path.Dir(dir))+"test"
}

func top(dir string) string { first, _, _ := strings.Cut(dir, "/"); return first }

// within reports whether dir is parent or lies below it.
func within(dir, parent string) bool {
	return dir == parent || strings.HasPrefix(dir, parent+"/")
}

// An ownership allows an import, or some names of one, to its owners only.
type ownership struct {
	path   string
	names  string // separated by spaces; empty for the import as such
	owners string // directories, separated by spaces
}

// checkOwners returns imports by others than their owner. Tests are free.
//
// It also returns rules that have died: one whose owner is on no floor, and one
// for a module that is there, or whose owner is, while no owner imports the path.
// Paths of the standard library do not change.
func checkOwners(tr *tree, fl floors, table []ownership) (breaches []string) {
	for _, o := range table {
		owners := strings.Fields(o.owners)
		used, ownerThere := false, false
		for _, f := range tr.files {
			owned := slices.ContainsFunc(owners, func(dir string) bool { return within(f.dir, dir) })
			ownerThere = ownerThere || owned
			hit := o.hit(f)
			used = used || owned && hit != "" && !f.test
			if hit != "" && !owned && !f.test {
				breaches = append(breaches, fmt.Sprintf("%s uses %s, which belongs to %s", f.path, hit, o.owners))
			}
		}
		for _, dir := range owners {
			if _, ok := fl.of(dir); !ok {
				breaches = append(breaches, fmt.Sprintf("rule for %s: owner %s is on no floor", o.path, dir))
			}
		}
		required := slices.ContainsFunc(tr.requires, func(m string) bool { return within(m, o.path) || within(o.path, m) })
		external := strings.Contains(top(o.path), ".")
		if external && !used && (required || ownerThere) {
			breaches = append(breaches, fmt.Sprintf("rule for %s is dead: its owner %s does not import it; was it renamed?", o.path, o.owners))
		}
	}
	return breaches
}

// hit returns what of the rule the file uses, empty for nothing.
func (o ownership) hit(f goFile) string {
	if o.names == "" {
		for _, p := range f.imports {
			if within(p, o.path) {
				return p
			}
		}
		return ""
	}
	for _, use := range f.uses {
		name, ok := strings.CutPrefix(use, o.path+".")
		if ok && (name == "*" || slices.Contains(strings.Fields(o.names), name)) {
			return use
		}
	}
	return ""
}

// checkPackageDocs returns the packages that have not exactly one package
// comment, and the directories with more than one package.
func checkPackageDocs(tr *tree) (breaches []string) {
	docs := map[string][]string{} // directory to the files with a comment
	names := map[string]string{}
	for _, f := range tr.files {
		if f.test {
			continue
		}
		if other, ok := names[f.dir]; ok && other != f.pkg {
			breaches = append(breaches, fmt.Sprintf("%s: packages %s and %s in one directory", f.dir, other, f.pkg))
		}
		names[f.dir] = f.pkg
		docs[f.dir] = slices.Clip(docs[f.dir])
		if f.doc {
			docs[f.dir] = append(docs[f.dir], f.path)
		}
	}
	for dir, files := range docs {
		if len(files) != 1 {
			breaches = append(breaches, fmt.Sprintf("%s: %d package comments, want one %v", dir, len(files), files))
		}
	}
	slices.Sort(breaches)
	return breaches
}

// checkLength returns the files that are not tests and longer than most lines.
func checkLength(tr *tree, most int) (breaches []string) {
	for _, f := range tr.files {
		if !f.test && f.lines > most {
			breaches = append(breaches, fmt.Sprintf("%s: %d lines, want at most %d", f.path, f.lines, most))
		}
	}
	return breaches
}

var (
	pageRow  = regexp.MustCompile(`(?m)^\|\s*(-?\d+|–)\s*\|([^|]*)\|`)
	pageName = regexp.MustCompile("`([^`]+)`")
)

// checkPage returns where the table in the Markdown page and the code differ:
// directories with code that it does not name, save helpers for tests, and names
// on another floor. A row
// names a directory and, after it, children: `load/` + `nethttp`.
func checkPage(tr *tree, fl floors, page string) (breaches []string) {
	named := map[string]bool{}
	for _, row := range pageRow.FindAllStringSubmatch(page, -1) {
		parent := ""
		for _, m := range pageName.FindAllStringSubmatch(row[2], -1) {
			dir := strings.TrimSuffix(m[1], "/")
			switch {
			case parent == "" || strings.Contains(m[1], "/"):
				parent = dir
			default:
				dir = parent + "/" + dir
			}
			named[dir] = true
			floor, ok := fl.of(dir)
			if !ok || row[1] != "–" && strconv.Itoa(floor) != row[1] {
				breaches = append(breaches, fmt.Sprintf("the page has %s on floor %s, floorTable does not", dir, row[1]))
			}
		}
	}
	missing := map[string]bool{}
	for _, f := range tr.files {
		dir, _, _ := strings.Cut(f.dir, "/internal/")
		if !f.test && !forTests(dir) && !named[dir] && !missing[dir] && !named[path.Dir(dir)+"/*"] {
			missing[dir] = true
			breaches = append(breaches, fmt.Sprintf("the page does not name %s", dir))
		}
	}
	return breaches
}
