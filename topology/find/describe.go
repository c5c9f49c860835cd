package find

import (
	"bufio"
	"context"
	"debug/buildinfo"
	"debug/elf"
	"errors"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/internal/foreign"
)

// mostProgram bounds a program that is read for its build information.
const mostProgram = 1 << 30

// describe adds what the files of a member's leader show. An application is written in the
// language that the user named, if any.
func describe(ctx context.Context, m *kasoku.Member, language string) {
	leader := m.Leader()
	if leader.PID == 0 {
		return
	}
	dir := "/proc/" + strconv.Itoa(leader.PID)
	if text, err := os.ReadFile(dir + "/limits"); err == nil {
		m.Limits.OpenFiles, m.Limits.Processes = parseLimits(string(text))
	}
	m.Limits.CPUs, m.Limits.Cores = allowedCores(m), quotaOf(leader.PID)
	if m.Role == kasoku.RoleApplication {
		m.Threads = workingThreads(m)
		if language != "" && language != m.Language {
			m.Language, m.Version = language, ""
		}
		if m.Language == "" {
			m.Language = loadedLanguage(dir + "/maps")
		}
		if m.Language == "" {
			m.Language, m.Version = compiled(ctx, leader.PID)
		}
	}
}

// modules are those of web servers that run applications, by the beginnings of their names.
var modules = map[string]string{"libphp": "php", "mod_wsgi": "python", "mod_perl": "perl", "mod_passenger": "ruby"}

// mostMaps bounds what is read of the files that a program has in memory.
const mostMaps = 1 << 20

// loadedLanguage returns the language of the module that a web server has in memory and that
// runs applications; empty when there is none, or more than one.
func loadedLanguage(maps string) (language string) {
	f, err := os.Open(maps)
	if err != nil {
		return ""
	}
	defer func() { _ = f.Close() }()
	for s := bufio.NewScanner(io.LimitReader(f, mostMaps)); s.Scan(); {
		base := filepath.Base(s.Text())
		for name, of := range modules {
			if !strings.HasPrefix(base, name) || of == language {
				continue
			}
			if language != "" {
				return ""
			}
			language = of
		}
	}
	return language
}

// parseLimits reads the soft limits of /proc/PID/limits; 0 for unlimited.
func parseLimits(text string) (files, processes uint64) {
	for line := range strings.Lines(text) {
		for name, to := range map[string]*uint64{"Max open files": &files, "Max processes": &processes} {
			if rest, ok := strings.CutPrefix(line, name); ok {
				if f := strings.Fields(rest); len(f) > 0 {
					*to, _ = strconv.ParseUint(f[0], 10, 64) // 0: unlimited
				}
			}
		}
	}
	return files, processes
}

// compiled returns the language of a program that Go or Rust built, and the version of its
// compiler.
func compiled(ctx context.Context, pid int) (language, version string) {
	p, err := foreign.Hold(pid)
	if err != nil {
		return "", ""
	}
	defer func() { _ = p.Close() }()
	if p.Believe(nil) != nil {
		return "", ""
	}
	found, err := foreign.ReadExe(ctx, p, mostProgram, func(r io.ReaderAt, size int64) ([2]string, error) {
		if info, err := buildinfo.Read(io.NewSectionReader(r, 0, size)); err == nil {
			return [2]string{"go", info.GoVersion}, nil
		}
		version, err := rustVersion(r)
		return [2]string{"rust", version}, err
	})
	if err != nil {
		return "", ""
	}
	return found[0], found[1]
}

var errNoRust = errors.New("no mark of rustc")

// rustMark is what rustc leaves in a program, also where its symbols are stripped: the section
// .comment of ELF has "rustc version 1.95.0 (59807616e 2026-04-14)" beside the linker's own.
var rustMark = regexp.MustCompile(`rustc version ([0-9][0-9.]*[^\s\x00]*)`)

// rustVersion returns the version of rustc that built a program.
func rustVersion(r io.ReaderAt) (string, error) {
	f, err := elf.NewFile(r)
	if err != nil {
		return "", err
	}
	comment := f.Section(".comment")
	if comment == nil {
		return "", errNoRust
	}
	var text [4096]byte // one line for each tool that had a part in it
	n, err := comment.ReadAt(text[:min(uint64(len(text)), comment.Size)], 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return "", err
	}
	m := rustMark.FindSubmatch(text[:n])
	if m == nil {
		return "", errNoRust
	}
	return string(m[1]), nil
}

// oneRequest are servers of which each process answers one request at a time.
//
// Sources: PHP manual, FPM; Unicorn, PHILOSOPHY ("slow clients only"): one client at a time.
var oneRequest = []string{"php-fpm", "unicorn"}

// workingThreads returns how many requests one worker has in work at a time: of Puma the
// threads that it names "puma srv tp 001"; one where the server has no other way, and of
// gunicorn where the worker has one thread and waits for no events, as workers of the class
// sync do. 0: unknown.
func workingThreads(m *kasoku.Member) int {
	dir := "/proc/" + strconv.Itoa(m.Processes[len(m.Processes)-1].PID)
	switch {
	case slices.Contains(oneRequest, m.Framework):
		return 1
	case m.Framework == "gunicorn" && len(entries(dir+"/task")) == 1 && !waitsForEvents(dir+"/fd"):
		return 1
	case m.Framework != "puma":
		return 0
	}
	n := 0
	for _, task := range entries(dir + "/task") {
		name, err := os.ReadFile(dir + "/task/" + task.Name() + "/comm")
		if err == nil && strings.HasPrefix(string(name), "puma srv tp") {
			n++
		}
	}
	return n
}

// entries are those of a directory; none where it cannot be read.
func entries(dir string) []os.DirEntry {
	list, err := os.ReadDir(dir)
	if err != nil {
		return nil
	}
	return list
}

// waitsForEvents reports whether a process has an epoll descriptor, or may have one: its
// descriptors cannot be read.
func waitsForEvents(dir string) bool {
	list := entries(dir)
	return len(list) == 0 || slices.ContainsFunc(list, func(fd os.DirEntry) bool {
		to, err := os.Readlink(dir + "/" + fd.Name())
		return err == nil && to == "anon_inode:[eventpoll]"
	})
}
