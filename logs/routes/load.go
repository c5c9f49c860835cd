package routes

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Load reads a list of routes: of an application's Go source when path is a
// directory or a file of it ([FromGo]), of an OpenAPI document (.yaml, .yml,
// .json; [FromOpenAPI]), or of a text file with one route per line, "GET
// /users/{id}" or "/users/{id}", where # begins a comment.
func Load(path string) ([]Route, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("read routes: %w", err)
	}
	switch ext := filepath.Ext(path); {
	case info.IsDir() || ext == ".go":
		return FromGo(path)
	case ext == ".yaml" || ext == ".yml" || ext == ".json":
		return FromOpenAPI(path)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read routes: %w", err)
	}
	out, err := parseList(string(b))
	if err != nil {
		return nil, fmt.Errorf("read routes %s: %w", path, err)
	}
	return out, nil
}

// parseList reads a text with one route per line.
func parseList(text string) ([]Route, error) {
	var out []Route
	number := 0
	for line := range strings.Lines(text) {
		number++
		line, _, _ = strings.Cut(line, "#")
		var r Route
		switch f := strings.Fields(line); {
		case len(f) == 0:
			continue
		case len(f) == 1:
			r = Route{Path: f[0]}
		default:
			r = Route{Method: f[0], Path: f[1]}
		}
		if _, err := NewList([]Route{r}); err != nil {
			return nil, fmt.Errorf("line %d: %w", number, err)
		}
		out = append(out, r)
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("no routes: expected lines like GET /users/{id}")
	}
	return out, nil
}

// goFiles returns the Go files of a directory and those below it, without tests
// and without what is not the application's own.
func goFiles(root string) ([]string, error) {
	var out []string
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := d.Name()
		if d.IsDir() {
			if path != root && (strings.HasPrefix(name, ".") || strings.HasPrefix(name, "_") ||
				name == "vendor" || name == "testdata" || name == "node_modules") {
				return filepath.SkipDir
			}
			return nil
		}
		if strings.HasSuffix(name, ".go") && !strings.HasSuffix(name, "_test.go") {
			out = append(out, path)
		}
		return nil
	})
	return out, err
}
