// Command golden prints, for each package whose tests keep golden files, the package
// and a pattern of the tests that reach package internal/test/golden: by themselves or
// through functions, methods, types and variables of their package's test files.
//
//	go run tools/golden/main.go
//
// It needs nothing but the sources, so that `make golden` need not run every test
// of a package to rewrite a few files.
package main

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// goldenPath ends the import path of the package that tests look for.
const goldenPath = `/internal/test/golden"`

func main() {
	if err := printPackages("."); err != nil {
		fmt.Fprintln(os.Stderr, "golden:", err)
		os.Exit(1)
	}
}

// printPackages prints a line for each package below root with tests of golden files.
func printPackages(root string) error {
	files := map[string][]string{} // test files by directory
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "testdata" || d.Name() == "tools" || len(d.Name()) > 1 && d.Name()[0] == '.'):
			return fs.SkipDir
		case strings.HasSuffix(path, "_test.go"):
			files[filepath.Dir(path)] = append(files[filepath.Dir(path)], path)
		}
		return nil
	})
	if err != nil {
		return err
	}
	for _, dir := range slices.Sorted(maps.Keys(files)) {
		tests, err := goldenTests(files[dir])
		if err != nil {
			return err
		}
		if len(tests) > 0 {
			fmt.Printf("./%s ^(%s)$\n", dir, strings.Join(tests, "|"))
		}
	}
	return nil
}

// goldenTests returns the tests of a package's test files that reach golden. None in
// a package that imports it is an error: then this program does not see how.
func goldenTests(files []string) ([]string, error) {
	uses := map[string]map[string]bool{} // what a declaration names, by its name
	reaches := map[string]bool{}
	imports := false
	for _, path := range files {
		src, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		f, err := parser.ParseFile(token.NewFileSet(), path, src, 0)
		if err != nil {
			return nil, err
		}
		imports = imports || bytes.Contains(src, []byte(goldenPath))
		for _, d := range f.Decls {
			for name, node := range declared(d) {
				if uses[name] == nil {
					uses[name] = map[string]bool{}
				}
				addNames(uses[name], node)
			}
		}
	}
	if !imports {
		return nil, nil
	}
	reaches["golden"] = true
	for again := true; again; {
		again = false
		for name, used := range uses {
			for other := range used {
				if reaches[other] && !reaches[name] {
					reaches[name], again = true, true
				}
			}
		}
	}
	var tests []string
	for _, name := range slices.Sorted(maps.Keys(uses)) {
		if reaches[name] && strings.HasPrefix(name, "Test") && name != "TestMain" {
			tests = append(tests, name)
		}
	}
	if len(tests) == 0 && !slices.ContainsFunc(files,
		func(p string) bool { return filepath.Base(filepath.Dir(p)) == "golden" }) {
		return nil, fmt.Errorf("%s: no test reaches internal/test/golden, which is imported", filepath.Dir(files[0]))
	}
	return tests, nil
}

// declared returns what a declaration declares, by name. A method goes by its own name:
// what calls one of that name may call this one.
func declared(d ast.Decl) map[string]ast.Node {
	out := map[string]ast.Node{}
	switch d := d.(type) {
	case *ast.FuncDecl:
		out[d.Name.Name] = d
	case *ast.GenDecl:
		for _, s := range d.Specs {
			switch s := s.(type) {
			case *ast.ValueSpec:
				for _, n := range s.Names {
					out[n.Name] = s
				}
			case *ast.TypeSpec:
				out[s.Name.Name] = s
			}
		}
	}
	return out
}

// addNames adds the identifiers in a node.
func addNames(to map[string]bool, node ast.Node) {
	ast.Inspect(node, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok {
			to[id.Name] = true
		}
		return true
	})
}
