package host

import (
	"fmt"
	"math"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/diagnose"
	"github.com/kasoku/kasoku/diagnose/internal/language"
	"github.com/kasoku/kasoku/internal/unit"
	"github.com/kasoku/kasoku/observe/cgroup"
	hostkeys "github.com/kasoku/kasoku/observe/host"
	"github.com/kasoku/kasoku/observe/mysql"
)

// keptMemory is the part of what is available that more processes leave.
const keptMemory = 0.10

// moreWorkers are how a server is given n processes, by language and framework, else by
// language alone.
//
// Sources: Puma's README and DSL (workers, preload_app!, WEB_CONCURRENCY); Unicorn's
// Configurator; gunicorn's and uvicorn's settings (workers, WEB_CONCURRENCY); Node.js, cluster;
// PM2, cluster mode; PHP manual, FPM configuration.
var moreWorkers = map[string]func(n int) kasoku.Fix{
	"ruby puma": pumaWorkers,
	"ruby unicorn": func(n int) kasoku.Fix {
		return kasoku.Fix{Text: "Let Unicorn run %s", Where: "config/unicorn.rb", Lang: "ruby",
			Code: fmt.Sprintf("worker_processes %d\npreload_app true", n)}
	},
	language.Ruby: ownServer,
	"python uvicorn": func(n int) kasoku.Fix {
		return kasoku.Fix{Text: "Let uvicorn run %s", Where: "the service's unit", Lang: "ini",
			Code: fmt.Sprintf("[Service]\nEnvironment=WEB_CONCURRENCY=%d", n),
			Note: fmt.Sprintf("The same as uvicorn --workers %d; --reload excludes it.", n)}
	},
	"python gunicorn": gunicornWorkers,
	language.Python:   ownServer,
	"javascript pm2":  pm2Instances,
	language.JavaScript: func(n int) kasoku.Fix {
		return kasoku.Fix{Text: "Run %s of it that share its port", Where: "a file that is started in place of app.js",
			Lang: "javascript", Code: fmt.Sprintf("const cluster = require(\"node:cluster\");\nif (cluster.isPrimary) {\n"+
				"  for (let i = 0; i < %d; i++) cluster.fork();\n"+
				"} else {\n  require(\"./app.js\"); // the file that is started now\n}", n)}
	},
	language.PHP: func(n int) kasoku.Fix {
		return kasoku.Fix{Text: "Serve it by PHP-FPM with %s at least",
			Where: "the pool's file, such as /etc/php/8.2/fpm/pool.d/www.conf",
			Lang:  "ini", Code: fmt.Sprintf("[www]\npm = static\npm.max_children = %d", n),
			Note: "PHP's own server (php -S) answers one request at a time and is for development. A child that waits for " +
				"the database answers no one: more than there are cores are of use."}
	},
	"perl starman": perlWorkers,
	"perl starlet": perlWorkers,
	perl:           ownServer,
}

// ownServer is for a server that is not known.
func ownServer(int) kasoku.Fix {
	return kasoku.Fix{Text: "Let its server run %s", Where: "where it is started",
		Note: "One that has no number of workers to set is for development."}
}

func perlWorkers(n int) kasoku.Fix {
	return kasoku.Fix{Text: "Let its server run %s", Where: "where it is started", Note: fmt.Sprintf("--workers %d.", n)}
}

func pumaWorkers(n int) kasoku.Fix {
	return kasoku.Fix{Text: "Let Puma run %s", Where: "config/puma.rb", Lang: "ruby",
		Code: fmt.Sprintf("workers %d\npreload_app!", n),
		Note: fmt.Sprintf("WEB_CONCURRENCY=%d in its environment does the same.", n)}
}

func gunicornWorkers(n int) kasoku.Fix {
	return kasoku.Fix{Text: "Let gunicorn run %s", Where: "gunicorn.conf.py", Lang: "python",
		Code: fmt.Sprintf("workers = %d", n),
		Note: fmt.Sprintf("--workers %d on its command line, or WEB_CONCURRENCY=%d, does the same; more threads do not.",
			n, n)}
}

func pm2Instances(n int) kasoku.Fix {
	return kasoku.Fix{Text: "Let PM2 run %s in its cluster mode", Where: "ecosystem.config.js", Lang: "javascript",
		Code: fmt.Sprintf("module.exports = {\n  apps: [{ name: \"app\", script: \"./app.js\", instances: %d, "+
			"exec_mode: \"cluster\" }],\n};", n)}
}

// want is how many processes there should be.
func (w workers) want() int { return max(int(w.cores), w.n+1) }

// fixes give the server as many processes as there are cores, or as the memory allows.
func (w workers) fixes(c *diagnose.Case) []kasoku.Fix {
	want := w.want()
	free, known := w.memory(c)
	n := want
	if known && w.rss > 0 {
		n = min(want, w.n+int(free*(1-keptMemory)/w.rss))
	}
	if n <= w.n {
		return []kasoku.Fix{{Text: "Give the service memory for another process, or let each hold less; then run " +
			countOf(want), Where: "the host, or the limit of its control group", Risk: kasoku.RiskAppRestart,
			Note: fmt.Sprintf("The memory does not suffice for a second one: each holds %s, and %s are available.",
				unit.BytesIEC(uint64(w.rss)), unit.BytesIEC(uint64(free)))}}
	}
	how, ok := moreWorkers[w.m.Language+" "+w.m.Framework]
	if !ok {
		how = moreWorkers[w.m.Language]
	}
	f := how(n)
	f.Text, f.Risk = fmt.Sprintf(f.Text, countOf(n)), kasoku.RiskAppRestart
	for _, s := range []string{w.memoryNote(n, want, free, known), "Caches, sessions, locks, counters and scheduled " +
		"jobs that live in the process are then one for each.", w.connectionNote(c, n)} {
		if s != "" {
			f.Note += " " + s
		}
	}
	return []kasoku.Fix{f}
}

// countOf is "2 processes".
func countOf(n int) string { return fmt.Sprintf("%d processes", n) }

// memory returns how much the host has available, and the control group of the member leaves.
func (w workers) memory(c *diagnose.Case) (free float64, known bool) {
	free = math.Inf(1)
	available := kasoku.Key{Host: w.m.Host, Source: diagnose.Host, Name: hostkeys.MemAvailable}
	if g, err := c.Counters().Gauge(available); err == nil && g.Min >= 0 {
		free, known = g.Min, true
	}
	for _, s := range c.FindAll(diagnose.Cgroup, cgroup.MemoryMax) {
		k := s.Key
		k.Name = cgroup.MemoryCurrent
		most, err := c.Counters().Gauge(s.Key)
		now, err2 := c.Counters().Gauge(k)
		if err == nil && err2 == nil && c.Processes().IsWithin(w.m, k) {
			free, known = min(free, max(most.Min-now.Max, 0)), true
		}
	}
	return free, known
}

// memoryNote is what n processes need.
func (w workers) memoryNote(n, want int, free float64, known bool) string {
	switch {
	case w.rss <= 0:
		return "What memory a process holds was not recorded."
	case !known:
		return fmt.Sprintf("Each holds %s; how much is available was not recorded.", unit.BytesIEC(uint64(w.rss)))
	}
	text := fmt.Sprintf("Each holds up to %s: %d more take as much as %s of the %s that are available.",
		unit.BytesIEC(uint64(w.rss)), n-w.n, unit.BytesIEC(uint64(float64(n-w.n)*w.rss)), unit.BytesIEC(uint64(free)))
	if n < want {
		text += fmt.Sprintf(" There are cores for %d, but no memory.", want)
	}
	return text
}

// connectionNote is what n processes open to the database.
func (w workers) connectionNote(c *diagnose.Case, n int) string {
	limit, ok := c.Number("max_connections")
	g, err := c.Counters().Gauge(kasoku.Key{Source: diagnose.MySQL, Name: mysql.ThreadsConnected})
	if !ok || err != nil || limit <= 0 || limit > 1e9 {
		return "Each has its own connections to the database."
	}
	most := g.Max * float64(n) / float64(w.n)
	text := fmt.Sprintf("Each has its own connections to the database: %s were open, with %d processes up to %s of the "+
		"%s of max_connections",
		diagnose.Whole(g.Max), n, diagnose.Whole(most), diagnose.Whole(limit))
	if most > limit {
		return text + ", which is too many: make the pool of each smaller."
	}
	return text + "."
}
