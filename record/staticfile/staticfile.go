// Package staticfile finds out where the nginx of a service would find files that its application
// sends.
package staticfile

import (
	"cmp"
	"context"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/checkpoint/capture"
	"github.com/kasoku/kasoku/internal/foreign"
	"github.com/kasoku/kasoku/internal/nginxconf"
	"github.com/kasoku/kasoku/topology"
)

// Bounds of the look for files.
const (
	mostFiles   = 32
	mostRoots   = 48
	filesWithin = 3 * time.Second
	// headBytes is what some formats of access logs count of an answer beside its body.
	headBytes = 1 << 10
)

// publicFolders are those in which programs keep what anybody may read, the working
// directory itself last.
var publicFolders = []string{"public", "../public", "static", "assets", "www", "web", "dist", "build", "htdocs",
	"public_html", "webapp/public", "app/public", ""}

// compressible are endings of files that are often sent compressed, and rarely made anew for
// each request.
var compressible = []string{".css", ".js", ".mjs", ".map", ".svg", ".webmanifest"}

// Roots returns where the nginx of the service on a host finds files that the application sends:
// below which of its own roots, or of the application's working directory and public
// folders, a path that was asked for is a regular file of the same size. It is looked for in
// the file system of an nginx worker and with its rights, as nginx would have to.
func Roots(host string, s *kasoku.Service, configs []kasoku.Config,
	endpoints []kasoku.Endpoint) (out []kasoku.Setting) {
	worker := nginxWorker(s.Of(kasoku.RoleWeb), host)
	wanted := plainFiles(endpoints)
	if worker == 0 || len(wanted) == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), filesWithin)
	defer cancel()
	held, err := foreign.Hold(worker)
	if err != nil {
		return nil
	}
	defer func() { _ = held.Close() }() // opened for reading
	if held.Believe(topology.NginxPrograms) != nil {
		return nil
	}
	roots := slices.Concat(namedRoots(configs), applicationRoots(s, host))
	roots = roots[:min(len(roots), mostRoots)]
	for _, e := range wanted {
		i := slices.IndexFunc(roots, func(root string) bool {
			f, err := held.ReadFile(ctx, path.Join(root, e.Route), 0)
			return err == nil && f.Regular && isSizeOf(e, uint64(f.Size))
		})
		if i >= 0 {
			out = append(out, kasoku.Setting{Host: host, Scope: kasoku.FilesScope, Name: e.Route, Value: roots[i]})
		}
	}
	return out
}

// nginxWorker returns a worker of the nginx that is a member on this host, 0 without one.
func nginxWorker(webs []*kasoku.Member, host string) int {
	for _, m := range webs {
		if m.Program != "nginx" || m.Host != "" && m.Host != host {
			continue
		}
		for _, p := range m.Processes {
			if !p.Leader && p.Ended == 0 {
				return p.PID
			}
		}
		return m.Leader().PID
	}
	return 0
}

// plainFiles returns the endpoints that send what looks like a file and whose route is one
// path, the most frequent first.
func plainFiles(endpoints []kasoku.Endpoint) (out []*kasoku.Endpoint) {
	for i := range endpoints {
		e := &endpoints[i]
		if e.Method == "GET" && e.IsStatic() && e.UpstreamCount > 0 && kasoku.IsPlainPath(e.Route) {
			out = append(out, e)
		}
	}
	slices.SortStableFunc(out, func(a, b *kasoku.Endpoint) int { return cmp.Compare(b.Count, a.Count) })
	return out[:min(len(out), mostFiles)]
}

// isSizeOf reports whether the answers of an endpoint may be a file of that size.
func isSizeOf(e *kasoku.Endpoint, size uint64) bool {
	if slices.Contains(compressible, strings.ToLower(path.Ext(e.Route))) && 0 < e.MaxBytes && e.MaxBytes < size {
		return e.MaxBytes >= size/20
	}
	return size > 0 && size <= e.MaxBytes && e.MaxBytes <= size+headBytes
}

// namedRoots returns the directories that nginx's configuration names.
func namedRoots(configs []kasoku.Config) (out []string) {
	for _, f := range configs {
		if f.Kind != capture.KindNginx {
			continue
		}
		conf, _ := nginxconf.Parse(f.Text, f.Name) // what can be read of a bad one
		for _, d := range conf {
			if n := d.Name(); (n == "root" || n == "alias") && len(d.Words) == 2 {
				out = appendRoot(out, d.Words[1])
			}
		}
	}
	return out
}

// applicationRoots returns the public folders of the working directories of the service's
// applications on this host, then these directories themselves. Whether there is such a
// directory for nginx, and what it may read there, the look for a file shows.
func applicationRoots(s *kasoku.Service, host string) (out []string) {
	for _, folder := range publicFolders {
		for _, m := range s.Of(kasoku.RoleApplication) {
			pid := m.Leader().PID
			if pid == 0 || m.Host != "" && m.Host != host {
				continue
			}
			if dir, err := os.Readlink("/proc/" + strconv.Itoa(pid) + "/cwd"); err == nil {
				out = appendRoot(out, path.Join(dir, folder))
			}
		}
	}
	return out
}

// appendRoot adds a directory whose name can be printed in a configuration.
func appendRoot(out []string, dir string) []string {
	dir = path.Clean(dir)
	if dir == "/" || !kasoku.IsPlainPath(dir) || slices.Contains(out, dir) {
		return out
	}
	return append(out, dir)
}
