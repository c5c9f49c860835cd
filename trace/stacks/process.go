package stacks

import (
	"io"
	"os"
	"path"
	"strconv"
	"strings"
)

// mostShort is how much of a small file of procfs is read.
const mostShort = 64 << 10

// readShort reads a small file of a process.
func readShort(pid int, name string) string {
	f, err := os.Open("/proc/" + strconv.Itoa(pid) + "/" + name)
	if err != nil {
		return ""
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, mostShort))
	if err != nil {
		return ""
	}
	return string(b)
}

// describe says what a process is, and of a program of Go its version.
func describe(pid int) (p Process, version string) {
	p = Process{PID: pid, Name: printable(strings.TrimSpace(readShort(pid, "comm")))}
	if exe, err := os.Readlink("/proc/" + strconv.Itoa(pid) + "/exe"); err == nil {
		p.Program = printable(strings.TrimSuffix(exe, " (deleted)"))
	}
	p.Language = languageOf(path.Base(p.Program))
	if p.Language == "" {
		var ok bool
		if version, ok = isGo(pid); ok {
			p.Language = "go"
		}
	}
	return p, version
}

// printable keeps what a terminal bears of a text.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || r >= 0x80 && r < 0xa0 {
			return '?'
		}
		return r
	}, strings.ToValidUTF8(s, "?"))
}

// languageOf returns the language that a program interprets or runs, by its name.
func languageOf(program string) string {
	for _, l := range []struct{ prefix, language string }{
		{"python", "python"}, {"pypy", "python"}, {"php", "php"}, {"ruby", "ruby"}, {"node", "javascript"}, {"nodejs", "javascript"},
		{"java", "java"}, {"perl", "perl"},
	} {
		rest, ok := strings.CutPrefix(program, l.prefix)
		if ok && strings.Trim(rest, "0123456789.-fpmcgi") == "" {
			return l.language
		}
	}
	return ""
}

// mostLists is how many threads of a process are asked for processes that they started.
const mostLists = 64

// childrenOf returns processes that those of a set have started and that are not in it, with
// who has started them.
func childrenOf(set map[int]bool) map[int]int {
	out := map[int]int{}
	for pid := range set {
		dir, err := os.Open("/proc/" + strconv.Itoa(pid) + "/task")
		if err != nil {
			continue
		}
		names, _ := dir.Readdirnames(mostLists) // what could not be read are none
		_ = dir.Close()
		for _, thread := range names {
			for _, f := range strings.Fields(readShort(pid, "task/"+thread+"/children")) {
				if child, err := strconv.Atoi(f); err == nil && !set[child] && len(out) < mostTargets {
					out[child] = pid
				}
			}
		}
	}
	return out
}
