package finalize

import (
	"context"
	"fmt"
	"net/netip"
	"path"
	"slices"
	"strings"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/internal/command"
	"github.com/kasoku/kasoku/internal/lazyregexp"
	"github.com/kasoku/kasoku/internal/unit"
	"github.com/kasoku/kasoku/store"
)

// mostListed is how many files or addresses an item names.
const mostListed = 5

// assetNames are the ends of names of files that a browser is sent as they stand; those of scripts count only
// below assetDirs, as a program in JavaScript has such names, too.
var (
	assetNames = []string{".css", ".gif", ".ico", ".jpeg", ".jpg", ".png", ".svg", ".ttf", ".webp", ".woff", ".woff2"}
	assetDirs  = []string{"assets", "build", "css", "dist", "fonts", "images", "img", "js", "public", "static", "www"}
)

// isAsset reports whether a path of a work tree is one of a file that is sent as it stands.
func isAsset(name string) bool {
	end := strings.ToLower(path.Ext(name))
	if slices.Contains(assetNames, end) {
		return true
	}
	return (end == ".js" || end == ".html" || end == ".map") && slices.ContainsFunc(strings.Split(path.Dir(name), "/"),
		func(dir string) bool { return slices.Contains(assetDirs, dir) })
}

// assets looks for files that a browser is sent and that are others than when the tuning began: benchmarks compare
// them byte by byte.
func (w *walker) assets(ctx context.Context) {
	const what = "assets"
	if w.Repository == "" {
		w.result.skip(PartRun, what, "capture.repository in kasoku.toml names no work tree")
		return
	}
	ctx, cancel := context.WithTimeout(ctx, askWithin)
	defer cancel()
	since, changed, err := changedAssets(ctx, w.Repository, firstRevision(w.Earlier))
	if err != nil {
		w.result.skip(PartRun, what, err.Error())
		return
	}
	var bad []string
	if n := len(changed); n > 0 {
		text := strings.Join(changed[:min(n, mostListed)], ", ")
		if n > mostListed {
			text += fmt.Sprintf(", and %d more", n-mostListed)
		}
		bad = []string{unit.Counted(n, "file", "files") + " that browsers are sent changed since " + since +
			": " + text}
	}
	w.result.check(PartRun, what, bad, []string{"no file that browsers are sent changed since " + since},
		"a benchmark may compare them byte by byte: `git checkout "+since+" -- FILE`; compress "+
			"and cache in the web server")
}

// firstRevision returns the commit that the first of some runs measured; empty where none says.
func firstRevision(runs []store.Info) string {
	var first *store.Info
	for i := range runs {
		r := &runs[i]
		if r.Err == nil && r.Revision != "" && (first == nil || r.Started.Before(first.Started)) {
			first = r
		}
	}
	if first == nil {
		return ""
	}
	return first.Revision[strings.LastIndexByte(first.Revision, '@')+1:]
}

// commitName is what names a commit by its digits: a run file may lie, and nothing else that it calls a revision is
// given to git, or printed to be pasted.
var commitName = lazyregexp.New(`^[0-9a-f]{4,64}$`)

// changedAssets returns which assets of a work tree are changed or gone since a revision, and that revision; without
// one, since the first commit. Files that are new are none of them.
func changedAssets(ctx context.Context, dir, since string) (_ string, changed []string, err error) {
	run := func(args ...string) (string, error) {
		git, err := command.Git(dir)
		if err != nil {
			return "", err
		}
		git.Args = append(slices.Clone(git.Args), args...)
		out, err := command.Output(ctx, git, 0)
		return string(out), err
	}
	if since != "" && !commitName().MatchString(since) {
		return "", nil, fmt.Errorf("the first run says %q, which names no commit", since)
	}
	if since == "" {
		roots, err := run("rev-list", "--max-parents=0", "--abbrev-commit", "HEAD")
		if err != nil {
			return "", nil, err
		}
		if since = strings.TrimSpace(roots); strings.Contains(since, "\n") {
			return "", nil, fmt.Errorf("%s has several first commits, and no run says with which the tuning began", dir)
		}
	}
	out, err := run("diff", "--no-renames", "--no-ext-diff", "--no-textconv", "--name-status", "-z",
		"--diff-filter=MDT", "--end-of-options", since)
	if err != nil {
		return "", nil, err
	}
	fields := strings.Split(strings.TrimSuffix(out, "\x00"), "\x00") // status and name in turn
	for i := 1; i < len(fields); i += 2 {
		if isAsset(fields[i]) {
			changed = append(changed, fields[i])
		}
	}
	return since, changed, nil
}

// otherHosts looks at the connections of the service under load, in the newest run before that has them.
func (w *walker) otherHosts() {
	const what = "other hosts"
	runs := slices.Clone(w.Earlier)
	slices.SortFunc(runs, func(a, b store.Info) int { return b.Started.Compare(a.Started) })
	for _, r := range runs {
		if r.Err != nil || r.State != kasoku.Finished || r.Checkpoint() || r.Observers == kasoku.ObserversOff {
			continue
		}
		rec, err := store.Open(r.Path)
		if err != nil || !rec.Service.Known() {
			continue
		}
		w.result.check(PartRun, what, outsideCalls(rec.Service),
			[]string{"the service was connected to none beyond private networks in run " + r.ID},
			"contests forbid to serve by hosts that are not given out: serve it from here")
		return
	}
	w.result.skip(PartRun, what, "no run before has the service's connections")
}

// outsideCalls returns the connections of a service's members to hosts beyond this one and private networks.
func outsideCalls(s *kasoku.Service) (out []string) {
	for _, e := range s.Edges {
		at, err := netip.ParseAddrPort(e.At.Address)
		if e.From == "" || e.To != "" || err != nil {
			continue
		}
		ip := at.Addr().Unmap()
		if ip.IsLoopback() || ip.IsPrivate() || ip.IsLinkLocalUnicast() || ip.IsUnspecified() || !ip.IsGlobalUnicast() {
			continue
		}
		out = append(out, e.From+" was connected to "+e.At.Address)
		if len(out) == mostListed {
			break
		}
	}
	return out
}
