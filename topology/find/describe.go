package find

import (
	"context"
	"debug/buildinfo"
	"io"
	"os"
	"runtime/debug"
	"strconv"
	"strings"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/internal/foreign"
)

// mostProgram bounds a program that is read for its build information.
const mostProgram = 1 << 30

// describe adds what the files of a member's leader show.
func describe(ctx context.Context, m *kasoku.Member) {
	leader := m.Leader()
	if leader.PID == 0 {
		return
	}
	dir := "/proc/" + strconv.Itoa(leader.PID)
	if text, err := os.ReadFile(dir + "/limits"); err == nil {
		m.Limits.OpenFiles, m.Limits.Processes = parseLimits(string(text))
	}
	if m.Role == kasoku.RoleApplication {
		m.Threads = workingThreads(m)
		if m.Language == "" {
			m.Language, m.Version = goVersion(ctx, leader.PID)
		}
	}
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

// goVersion returns the language and the version of a program that Go built.
func goVersion(ctx context.Context, pid int) (language, version string) {
	p, err := foreign.Hold(pid)
	if err != nil {
		return "", ""
	}
	defer func() { _ = p.Close() }()
	if p.Believe(nil) != nil {
		return "", ""
	}
	info, err := foreign.ReadExe(ctx, p, mostProgram, func(r io.ReaderAt, size int64) (*debug.BuildInfo, error) {
		return buildinfo.Read(io.NewSectionReader(r, 0, size))
	})
	if err != nil {
		return "", ""
	}
	return "go", info.GoVersion
}

// workingThreads returns how many threads of one worker serve requests, where the server
// names them: Puma's "puma srv tp 001". 0: unknown.
func workingThreads(m *kasoku.Member) int {
	if m.Framework != "puma" {
		return 0
	}
	p := m.Processes[len(m.Processes)-1]
	dir := "/proc/" + strconv.Itoa(p.PID) + "/task"
	tasks, err := os.ReadDir(dir)
	if err != nil {
		return 0
	}
	n := 0
	for _, task := range tasks {
		name, err := os.ReadFile(dir + "/" + task.Name() + "/comm")
		if err == nil && strings.HasPrefix(string(name), "puma srv tp") {
			n++
		}
	}
	return n
}
