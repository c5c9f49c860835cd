package topology

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/kasoku/kasoku/internal/lazyregexp"
	"github.com/kasoku/kasoku/internal/nginxconf"
)

// mostWords bounds how many words of a command line are looked at.
const mostWords = 200

// findCheckout finds the git work tree that an application's own files lie in: its program, the code that
// its command line names, the files that nginx asks it for. Where it was started says nothing alone: a
// daemon keeps the directory of the shell that started it. A checkout that an interpreter lies in, such as
// pyenv's, is not its program's.
func (p *applications) findCheckout(s *subject) {
	if s.Container != "" || s.elsewhere() {
		return
	}
	c := code{files: p.view.filesOf(s), of: s, runtime: exeName(s.Exe)}
	if !slices.Contains(runtimes, c.runtime) {
		c.runtime = ""
	}
	for _, path := range append(c.paths(), p.asked(s.Service)...) {
		top, ok := c.files.upward(path, ".git")
		if ok && top != "/" && (c.runtime == "" || !inside(s.Exe, top) || inside(s.Dir, top)) {
			s.Repository = top
			return
		}
	}
}

// inside reports whether a path is a directory or lies in it.
func inside(path, dir string) bool { return path == dir || strings.HasPrefix(path, dir+"/") }

// code is where the code of an application lies.
type code struct {
	files   files
	of      *subject
	runtime string // that runs it: python; empty for a program of its own
}

// paths are the files and directories of the code, the surest first.
func (c *code) paths() []string {
	s := c.of
	switch {
	case s.Exe == "" || c.runtime == "php-fpm": // nginx says which files that runs
		return nil
	case c.runtime != "":
		return c.named()
	case s.Go != nil && c.module() == s.Go.Module:
		return []string{s.Exe, s.Dir}
	}
	return []string{s.Exe}
}

// module is the Go module that the working directory lies in; empty without one.
func (c *code) module() string {
	dir, ok := c.files.upward(c.of.Dir, "go.mod")
	if !ok {
		return ""
	}
	text, err := c.files.read(below(dir, "go.mod"))
	if err != nil {
		return ""
	}
	for line := range strings.Lines(string(text)) {
		if f := strings.Fields(line); len(f) >= 2 && f[0] == "module" {
			return strings.Trim(f[1], `"`)
		}
	}
	return ""
}

// manifests are files by which a directory is an application's, by what runs it: for those that call
// themselves something else when they run, as Puma does, or are given a name without its ending.
var manifests = map[string][]string{
	"ruby": {"config.ru", "Gemfile"}, "puma": {"config.ru", "Gemfile"}, "unicorn": {"config.ru", "Gemfile"},
	"node": {"package.json"}, "bun": {"package.json"}, "deno": {"deno.json", "package.json"},
	"php": {"index.php", "composer.json"}, "beam.smp": {"mix.exs"},
}

// named are the files that an interpreter is asked to run, else the working directory if a manifest lies there.
func (c *code) named() (out []string) {
	words := c.words()
	for _, word := range words {
		path := below(c.of.Dir, word)
		if c.files.has(path) && !isTool(path) && (c.runtime == "java" || !c.files.isDir(path) ||
			c.runtime == "node" && strings.HasPrefix(word, "/")) {
			out = append(out, path)
		}
	}
	if slices.Contains([]string{"python", "gunicorn", "uvicorn", "uwsgi"}, c.runtime) {
		out = append(out, c.modules(words)...)
	}
	if len(out) > 0 {
		return out
	}
	for _, name := range manifests[c.runtime] {
		if path := below(c.of.Dir, name); c.files.has(path) {
			return []string{path}
		}
	}
	return nil
}

// words are what a command line, or what a program made of it, may name: no options, and not itself.
func (c *code) words() (out []string) {
	for i, arg := range c.of.args {
		for j, word := range strings.Fields(arg) {
			if i+j == 0 || strings.HasPrefix(word, "-") {
				continue
			}
			word = strings.Trim(word, "[]()")
			if c.runtime == "java" {
				out = append(out, strings.Split(word, ":")...) // a class path
			} else {
				out = append(out, word)
			}
		}
	}
	out = slices.DeleteFunc(out, func(w string) bool { return w == "" })
	return out[:min(len(out), mostWords)]
}

// isTool reports whether a file is a program that is installed, such as gunicorn, and not code.
func isTool(path string) bool {
	return slices.Contains([]string{"bin", "sbin", ".bin"}, filepath.Base(filepath.Dir(path))) && filepath.Ext(path) == ""
}

// pythonModule is a module with the application in it: shop.wsgi:application.
var pythonModule = lazyregexp.New(`^([A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*)(?::[\w.()]+)?$`)

// modules are the files of the Python modules among the words, in the working directory.
func (c *code) modules(words []string) (out []string) {
	for _, word := range words {
		m := pythonModule().FindStringSubmatch(word)
		if m == nil {
			continue
		}
		file := below(c.of.Dir, strings.ReplaceAll(m[1], ".", "/"))
		for _, path := range []string{file + ".py", file + "/__init__.py"} {
			if c.files.has(path) {
				out = append(out, path)
			}
		}
	}
	return out
}

// asked are the directories whose files an nginx asks a service for by FastCGI.
func (p *applications) asked(s *Service) (out []string) {
	for _, web := range ofKind(p.all, Nginx) {
		if web.Nginx == nil {
			continue
		}
		for _, up := range web.Nginx.Upstreams {
			for _, listen := range s.Listen {
				if meets(up, listen) {
					out = append(out, web.Nginx.roots[up]...)
				}
			}
		}
	}
	return out
}

// rootOf is the directory or file that a fastcgi_pass asks for, as far as it is written out: the file in
// its block, else the root of its block or of one around it.
func rootOf(text nginxconf.Config, pass int) (root string) {
	for block := text[pass].Parent; ; block = text[block].Parent {
		for _, d := range text {
			if d.Parent != block || len(d.Words) < 2 {
				continue
			}
			switch file := d.Words[len(d.Words)-1]; {
			case d.Words[0] == "fastcgi_param" && d.Words[1] == "SCRIPT_FILENAME" && strings.HasPrefix(file, "/"):
				before, _, _ := strings.Cut(file, "$")
				return before
			case d.Words[0] == "root":
				root = file
			}
		}
		if root != "" || block < 0 {
			break
		}
	}
	if !strings.HasPrefix(root, "/") || strings.Contains(root, "$") {
		return ""
	}
	return root
}
