package handover

import (
	"cmp"
	"math"
	"net"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"unicode"
)

// configName is the file in the directory of a project.
const configName = "kasoku.toml"

// runsDir is the directory of a project in which its runs are kept unless it says otherwise.
const runsDir = "runs"

// Project names the project that a directory is of, by a path: the nearest directory with
// a kasoku.toml, it or above, else the directory itself.
func Project(dir string) string {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return ""
	}
	if root := rootOf(dir); root != "" {
		return root
	}
	return dir
}

// rootOf returns the nearest directory with a kasoku.toml, empty when there is none.
func rootOf(dir string) string {
	for {
		if hasConfig(dir) {
			return dir
		}
		up := filepath.Dir(dir)
		if up == dir {
			return ""
		}
		dir = up
	}
}

// projectOfRun names the project of a run by the file in which it is kept.
func projectOfRun(path string) string {
	dir, err := filepath.Abs(filepath.Dir(path))
	if err != nil {
		return ""
	}
	if root := rootOf(dir); root != "" {
		return root
	}
	if filepath.Base(dir) == runsDir {
		return filepath.Dir(dir)
	}
	return dir
}

// here is the project of this process.
func here() string {
	dir, err := os.Getwd()
	if err != nil {
		return ""
	}
	return Project(dir)
}

// idleSeconds is for how many seconds the project that was taken must make no load before
// another one's is taken.
const idleSeconds = 10

// A Choice decides which project's load an onlooker takes: that of its own project or, as
// long as that makes none, that of one other project. When the own project has a
// kasoku.toml, others that have one too are never taken. The loads of two projects are
// never added up within a second. Of a project without one nothing is taken that goes to
// other places than the own kasoku.toml names. It is safe for concurrent use.
type Choice struct {
	own     string
	places  []string // where the own load goes, as far as that is known
	named   bool     // the own one has a kasoku.toml
	refused func(project string, taken bool)

	mu      sync.Mutex
	any     bool   // one was taken
	project string // whose load is taken
	last    int    // second of what was taken
	floor   int    // second up to which another's was taken
	said    []string
	others  map[string]bool // projects that have a kasoku.toml of their own
}

// NewChoice returns the choice of an onlooker that was started in a directory. other is
// called once with each other project that makes a load, and whether that is taken, and
// again when one that was refused is; it may be nil. Places are where the own load goes, as
// [Report.Places]; none: it is not known.
func NewChoice(dir string, places []string, other func(project string, taken bool)) *Choice {
	own := Project(dir)
	return &Choice{own: own, places: addresses(places), named: hasConfig(own), refused: other, floor: math.MinInt,
		others: map[string]bool{}}
}

// Takes reports whether what a project's load counted in a second is taken. Places are where
// it goes; none: it is not known.
func (c *Choice) Takes(project string, places []string, second int) bool {
	if c == nil {
		return true
	}
	c.mu.Lock()
	taken := !c.refuses(project, places) && c.takes(project, second)
	first := c.isNews(project, taken)
	c.mu.Unlock()
	if first {
		c.refused(project, taken)
	}
	return taken
}

// Refuses reports whether the load of a run is never taken, whatever it is.
func (c *Choice) Refuses(run Ongoing) bool {
	if c == nil {
		return false
	}
	c.mu.Lock()
	refused := c.refuses(run.Project, run.Places)
	first := refused && c.isNews(run.Project, false)
	c.mu.Unlock()
	if first {
		c.refused(run.Project, false)
	}
	return refused
}

// isNews reports whether it was not said yet that another project's load is taken, or is not.
func (c *Choice) isNews(project string, taken bool) bool {
	taking := "taken " + project
	if project == c.own || c.refused == nil || slices.Contains(c.said, taking) || !taken && slices.Contains(c.said, project) {
		return false
	}
	if taken {
		project = taking
	}
	c.said = append(c.said, project)
	return true
}

func (c *Choice) refuses(project string, places []string) bool {
	return c.ofOthers(project) || c.goesElsewhere(project, places)
}

func (c *Choice) takes(project string, second int) bool {
	switch {
	case !c.any:
		c.any, c.project, c.last = true, project, second
	case project != c.project && project != c.own && second <= c.last+idleSeconds:
		return false
	case project != c.project:
		c.project, c.floor = project, c.last
	}
	c.last = max(c.last, second)
	return second > c.floor
}

// goesElsewhere reports whether another project's load goes to no place of the own one.
func (c *Choice) goesElsewhere(project string, places []string) bool {
	if !c.named || project == c.own || len(c.places) == 0 || len(places) == 0 {
		return false
	}
	return !slices.ContainsFunc(addresses(places), func(at string) bool { return slices.Contains(c.places, at) })
}

// addresses returns places without what does not say where they are: scheme, user, path; each
// host that is this one by one name, and as well the name that is asked for.
func addresses(places []string) (out []string) {
	for _, p := range places {
		p, site, _ := strings.Cut(p, " ")
		u, err := url.Parse(p)
		switch {
		case err != nil && strings.Contains(p, "://") || strings.ContainsFunc(p, unicode.IsControl):
			continue // a command's word that is no URL
		case err != nil || u.Host == "":
			out = append(out, p)
			continue
		}
		port := cmp.Or(u.Port(), map[string]string{"http": "80", "https": "443"}[u.Scheme])
		out = append(out, net.JoinHostPort(oneName(u.Hostname()), port))
		if site != "" {
			out = append(out, net.JoinHostPort(oneName(site), port))
		}
	}
	return out
}

// oneName returns the one name of a host that is this one, and others in lower case.
func oneName(host string) string {
	ip, err := netip.ParseAddr(host)
	ip = ip.Unmap()
	host = strings.ToLower(strings.TrimSuffix(host, "."))
	if err == nil && (ip.IsLoopback() || ip.IsUnspecified()) || host == "localhost" || slices.Contains(hostNames(), host) {
		return "127.0.0.1"
	}
	return host
}

// hostNames are the name and the addresses of this host.
var hostNames = sync.OnceValue(func() (names []string) {
	if name, err := os.Hostname(); err == nil {
		names = append(names, strings.ToLower(name))
	}
	addrs, _ := net.InterfaceAddrs() // without them a host has its other names
	for _, a := range addrs {
		if prefix, err := netip.ParsePrefix(a.String()); err == nil {
			names = append(names, prefix.Addr().String())
		}
	}
	return names
})

// ofOthers reports whether a project other than the own one has a kasoku.toml, and the own
// one too.
func (c *Choice) ofOthers(project string) bool {
	if !c.named || project == c.own || project == "" {
		return false
	}
	known, ok := c.others[project]
	if !ok {
		known = hasConfig(project)
		c.others[project] = known
	}
	return known
}

func hasConfig(dir string) bool {
	_, err := os.Lstat(filepath.Join(dir, configName))
	return err == nil
}

// Of reports whether a project's load is the one that is taken.
func (c *Choice) Of(project string) bool {
	if c == nil {
		return true
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.any && c.project == project
}

// OwnFirst puts the runs of the own project before those of others.
func (c *Choice) OwnFirst(runs []Ongoing) []Ongoing {
	if c == nil {
		return runs
	}
	out := slices.Clone(runs)
	slices.SortStableFunc(out, func(a, b Ongoing) int {
		switch {
		case c.isOwn(a) == c.isOwn(b):
			return 0
		case c.isOwn(a):
			return -1
		}
		return 1
	})
	return out
}

func (c *Choice) isOwn(r Ongoing) bool { return r.Project == c.own }
