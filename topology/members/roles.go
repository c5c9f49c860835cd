package members

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/topology/internal/programs"
	"github.com/kasoku/kasoku/topology/scan"
)

// languages are those of runtimes, by the name of their executable.
var languages = map[string]string{
	"python": "python", "pypy": "python", "uwsgi": "python", "node": "javascript", "nodejs": "javascript",
	"bun": "javascript", "deno": "javascript", "ruby": "ruby", "php-fpm": "php", "php": "php", "php-cgi": "php",
	"frankenphp": "php", "java": "java", "perl": "perl", "dotnet": "csharp", "beam.smp": "erlang", "mono": "csharp",
}

// interpreters run any number of programs: that two processes run one says nothing.
var interpreters = []string{"python", "pypy", "node", "nodejs", "bun", "deno", "ruby", "php", "java", "perl", "dotnet",
	"beam.smp", "mono", "busybox", "lua", "luajit", "ld-linux-x86-64.so", "ld-musl-x86_64.so", "qemu-x86_", "tclsh",
	"guile", "R", "julia", "wine", "runc", "env", "sudo", "su", "setpriv", "timeout", "nice", "nohup", "strace", "gdb"}

// frameworks are servers of applications that run in an interpreter, by a word of the
// title or of the command line. They name a member and decide nothing.
var frameworks = map[string][]string{
	"ruby":       {"puma", "unicorn", "pitchfork", "falcon", "passenger", "thin", "sidekiq"},
	"python":     {"gunicorn", "uvicorn", "hypercorn", "daphne", "granian", "waitress-serve", "uwsgi", "celery"},
	"javascript": {"pm2", "next", "nuxt"},
	"perl":       {"starman", "starlet", "plackup", "hypnotoad", "gazelle"},
}

// inits start programs and may open sockets for them.
var inits = []string{"systemd", "init", "tini", "tini-static", "dumb-init", "docker-init", "catatonit", "runit",
	"runsv", "runsvdir", "s6-svscan", "s6-supervise", "supervise", "start_server", "einhorn", "xinetd", "inetd",
	"systemd-socket-activate", "supervisord", "daemontools", "launchd"}

var shells = []string{"sh", "bash", "dash", "zsh", "fish", "ksh", "ash", "csh", "tcsh", "busybox"}

func isShell(base string) bool       { return slices.Contains(shells, base) }
func isInterpreter(base string) bool { return slices.Contains(interpreters, base) }

// isInit reports whether a process is what starts others. The first process of a
// container is one only when its program says so.
func isInit(p *scan.Process) bool {
	return slices.Contains(inits, programs.Name(p.Exe)) || p.PID == 1 && p.Exe == ""
}

// opensForOthers reports whether a process opens sockets that others accept at: an init,
// or a supervisor that an interpreter runs.
func opensForOthers(p *scan.Process) bool {
	if isInit(p) {
		return true
	}
	base := programs.Name(p.Exe)
	if !isInterpreter(base) {
		return false
	}
	if isPM2(p) {
		return true
	}
	return slices.ContainsFunc(p.Args[:min(len(p.Args), 3)], func(a string) bool {
		return slices.Contains(inits, filepath.Base(a)) || filepath.Base(a) == "circusd"
	})
}

// isPM2 reports whether a process says that it is the one that runs all programs of PM2, and
// listens for those in its cluster mode.
func isPM2(p *scan.Process) bool {
	return len(p.Args) > 0 && strings.HasPrefix(p.Args[0], "PM2 v") && strings.Contains(p.Args[0], "God Daemon")
}

// program returns the name of what the instance runs, for people.
func (in *instance) program() string {
	if f := frameworkOf(in); f != "" {
		return f
	}
	if in.leader.Exe == "" {
		return in.leader.Name
	}
	base := programs.Name(in.leader.Exe)
	if base == "apache" {
		return "apache2"
	}
	return base
}

// Doubted reports whether [Decide] asks if a program is what it says: one that is known by
// its executable.
func Doubted(exe string) bool {
	_, ok := programs.Known(exe)
	return ok
}

// known reports whether an instance is of a program that is known by its executable.
func known(in *instance) bool {
	return Doubted(in.leader.Exe)
}

// kind returns the role and the protocol of an instance; what is not known by its
// executable is an application.
func kind(in *instance) programs.Program {
	if p, ok := programs.Known(in.leader.Exe); ok {
		return p
	}
	return programs.Program{Role: kasoku.RoleApplication}
}

// system reports whether an instance is of the system or watches it.
func (in *instance) system() bool {
	p := in.leader
	if p.Exe == "" {
		return p.PID == 1 || programs.IsSystem(p.Name)
	}
	return isInit(p) || programs.IsSystem(p.Exe)
}

func languageOf(in *instance) string { return languages[programs.Name(in.leader.Exe)] }

// frameworkOf returns the server of applications that an interpreter runs.
func frameworkOf(in *instance) string {
	base := programs.Name(in.leader.Exe)
	if base == "php-fpm" || base == "uwsgi" {
		return base
	}
	language := languages[base]
	for _, name := range frameworks[language] {
		for i, a := range in.leader.Args[:min(len(in.leader.Args), 4)] {
			word := strings.TrimRight(strings.TrimSuffix(filepath.Base(strings.Fields(a + " -")[0]), ":"), "0123456789.")
			if i < 4 && word == name {
				return name
			}
		}
	}
	return ""
}
