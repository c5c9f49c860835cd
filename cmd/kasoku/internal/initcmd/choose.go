package initcmd

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/checkpoint/capture"
	"github.com/kasoku/kasoku/cmd/kasoku/internal/cli"
	"github.com/kasoku/kasoku/internal/contain"
	"github.com/kasoku/kasoku/mysqlflags"
	"github.com/kasoku/kasoku/record"
	"github.com/kasoku/kasoku/report/terminal"
	"github.com/kasoku/kasoku/topology"
	"github.com/kasoku/kasoku/topology/find"
)

// A subject is the service that the file is written for.
type subject struct {
	service kasoku.Service
	named   record.Named // for the table service
	others  []find.Candidate
	alone   bool // no other service runs here
}

// check refuses flags that name no service, and two that name different ones.
func (f *initFlags) check(given func(flag string) bool) error {
	if given("port") && (f.port < 1 || f.port > 65535) {
		return cli.Usagef("", "--port %d: want a port from 1 to 65535", f.port)
	}
	if given("unit") && strings.TrimSpace(f.unit) == "" {
		return cli.Usagef("", "--unit: want the name of a unit, such as app.service")
	}
	if !given("url") {
		return nil
	}
	u, err := url.Parse(f.url)
	if err != nil || u.Hostname() == "" || u.Scheme != "http" && u.Scheme != "https" {
		text := f.url
		if err == nil {
			text = u.Redacted()
		} else if i := strings.LastIndexByte(text, '@'); i >= 0 {
			text = text[i+1:] // what stands before may be a password
		}
		hint := "it begins with http:// or https://"
		if !strings.Contains(text, "://") {
			hint += "; did you mean --url http://" + strings.TrimPrefix(text, "//") + "?"
		}
		return cli.Usagef(hint, "--url %q: want an URL such as http://127.0.0.1:8080/", text)
	}
	port := cmp.Or(u.Port(), map[string]string{"http": "80", "https": "443"}[u.Scheme])
	if n, err := strconv.Atoi(port); given("port") && (err != nil || n != f.port) {
		return cli.Usagef("name the service by one of them", "--url is at port %s, and --port says %d", port, f.port)
	}
	return nil
}

// named returns what the flags say.
func (f *initFlags) named(e *cli.Env) (n record.Named, err error) {
	n = record.Named{URL: f.url, Port: f.port, Unit: f.unit}
	if n.DSN, err = f.database.DSN(e); err != nil {
		return n, err
	}
	if mysqlflags.HasPassword(f.database.MySQL) {
		return n, cli.Usagef("put it into an option file of your own (chmod 600), and name that by --defaults-file",
			"--mysql: a password does not belong into kasoku.toml")
	}
	return n, nil
}

// choose returns the service that the user means: the one that he named, the only one, or
// the one that he answers with.
func (f *initFlags) choose(e *cli.Env, ctx context.Context, found *topology.Found) (*subject, error) {
	named, err := f.named(e)
	if err != nil {
		return nil, err
	}
	all, err := find.Services(ctx)
	if err != nil {
		return nil, fmt.Errorf("look for services: %w", err)
	}
	if named.URL != "" || named.Port != 0 {
		return nameService(e, ctx, named, all)
	}
	all = likely(all, found)
	if named != (record.Named{}) {
		var with []find.Candidate
		ask := find.Ask{}
		named.Ask(&ask)
		alone, err := find.Find(ctx, ask)
		if err != nil {
			return nil, err
		}
		if len(alone.Members) == 0 {
			return nil, unseen(alone)
		}
		for i := range all {
			if slices.ContainsFunc(alone.Members, func(m kasoku.Member) bool { return all[i].Has(&m) }) {
				with = append(with, all[i])
			}
		}
		if len(with) == 0 { // none is seen to use it
			return &subject{service: alone, named: named, others: othersThan(&alone, all)}, nil
		}
		return pick(e, with, all, named)
	}
	if len(all) == 0 {
		return &subject{alone: true}, nil
	}
	return pick(e, all, all, named)
}

// nameService finds the service at the address that the user named.
func nameService(e *cli.Env, ctx context.Context, named record.Named, all []find.Candidate) (*subject, error) {
	ask := find.Ask{}
	named.Ask(&ask)
	s, err := find.Find(ctx, ask)
	if err != nil {
		return nil, err
	}
	if named.URL != "" && named.DSN == "" && len(s.Members) > 0 && len(s.Of(kasoku.RoleDatabase)) == 0 {
		// An idle pool has no connection that shows the database.
		look := func(ctx context.Context) (kasoku.Service, error) { return find.Find(ctx, ask) }
		if s, err = wake(e, ctx, named.URL, s, look); err != nil {
			return nil, err
		}
	}
	if len(s.Members) == 0 {
		return nil, unseen(s)
	}
	if named.URL == "" {
		named.URL = "http://127.0.0.1:" + strconv.Itoa(named.Port) + "/"
		named.Port = 0
	}
	named.URL = withoutUser(named.URL)
	out := &subject{service: s, named: named, others: othersThan(&s, all)}
	out.alone = len(out.others) == 0
	return out, nil
}

// withoutUser is a URL as the file has it: without user and password, by which no service is known.
func withoutUser(address string) string {
	u, err := url.Parse(address)
	if err != nil || u.User == nil {
		return address
	}
	u.User = nil
	return u.String()
}

// othersThan returns the candidates that are another service: neither a part of this one nor
// one that this is a part of, whatever the address that it was named by.
func othersThan(s *kasoku.Service, all []find.Candidate) []find.Candidate {
	return slices.DeleteFunc(slices.Clone(all), func(c find.Candidate) bool {
		own := find.Candidate{Service: *s}
		return within(s, &c) || within(&c.Service, &own)
	})
}

// within reports whether the members of a service are a candidate's.
func within(s *kasoku.Service, c *find.Candidate) bool {
	return !slices.ContainsFunc(s.Members, func(m kasoku.Member) bool { return !c.Has(&m) })
}

// unseen reports why what the user named is not known.
func unseen(s kasoku.Service) error {
	if len(s.Unknown) == 0 {
		return cli.Usagef("start it, then try again", "what was named does not run here")
	}
	u := s.Unknown[0]
	return cli.Usagef(u.Show, "%s: %s", u.What, u.Why)
}

// likely leaves out single programs that are far less likely a service's application than
// others, such as an editor's helpers.
func likely(all []find.Candidate, found *topology.Found) []find.Candidate {
	apps := LikelyApps(found)
	return slices.DeleteFunc(slices.Clone(all), func(c find.Candidate) bool {
		m := c.Service.Members
		if len(m) != 1 || m[0].Role != kasoku.RoleApplication {
			return false
		}
		return !slices.ContainsFunc(apps, func(v *topology.Service) bool { return m[0].Has(v.PID) })
	})
}

// pick returns the only one of some services, or asks which; without a terminal it lists
// them, and that is an error.
func pick(e *cli.Env, from, all []find.Candidate, named record.Named) (*subject, error) {
	n := 0
	if len(from) > 1 {
		listCandidates(e.Stderr, from)
		if !e.StdinTTY() || !e.StderrTTY {
			return nil, cli.Usagef("name one: "+e.Name+" init "+flagOf(from, 0)+"; --url, --mysql and --unit name one, too",
				"%d services run here, and which one is meant is not known", len(from))
		}
		var err error
		if n, err = ask(e, len(from)); err != nil {
			return nil, err
		}
	}
	return subjectOf(&from[n], named, all), nil
}

// subjectOf is the candidate that was chosen of all.
func subjectOf(c *find.Candidate, named record.Named, all []find.Candidate) *subject {
	named.URL = c.URL
	if c.Host != "" {
		named.Port = c.Port // its name may lead elsewhere
	}
	return &subject{service: c.Service, named: named, alone: len(all) == 1, others: othersThan(&c.Service, all)}
}

// Ports lists services by their ports.
func Ports(all []find.Candidate) string {
	texts := make([]string, len(all))
	for i := range all {
		texts[i] = strconv.Itoa(all[i].Port) + " (" + all[i].Service.Picture() + ")"
	}
	return strings.Join(texts, "; ")
}

// listCandidates prints services, each with the flag that names it.
func listCandidates(w io.Writer, all []find.Candidate) {
	width := 0
	for i := range all {
		width = max(width, len(flagOf(all, i)))
	}
	for i := range all {
		fmt.Fprintf(w, "%3d  %-*s  %s\n", i+1, width, terminal.Clean(flagOf(all, i)), terminal.Clean(all[i].Service.Picture()))
	}
}

// flagOf is the flag that names one of some services.
func flagOf(all []find.Candidate, i int) string {
	same := 0
	for k := range all {
		if all[k].Port == all[i].Port {
			same++
		}
	}
	if same > 1 && all[i].Host != "" {
		return fmt.Sprintf("--port %d --url %s", all[i].Port, all[i].URL)
	}
	return "--port " + strconv.Itoa(all[i].Port)
}

// ask asks for a number on the terminal.
func ask(e *cli.Env, most int) (int, error) {
	fmt.Fprintf(e.Stderr, "Which one is measured? [1-%d] ", most)
	line, err := bufio.NewReader(e.Stdin).ReadString('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return 0, fmt.Errorf("read answer: %w", err)
	}
	if line == "" { // the end of input leaves the cursor after the question
		fmt.Fprintln(e.Stderr)
		return 0, cli.Usagef("", "no answer: want a number from 1 to %d", most)
	}
	n, err := strconv.Atoi(strings.TrimSpace(line))
	if err != nil || n < 1 || n > most {
		return 0, cli.Usagef("", "%q: want a number from 1 to %d", strings.TrimSpace(line), most)
	}
	return n - 1, nil
}

// narrow leaves of what was found what belongs to the service that was chosen. A database
// that nothing is connected to stays where it is the only one and no other service runs here.
// What is left is asked for its numbers.
func (s *Surveyed) narrow(ctx context.Context, of *subject) (err error) {
	s.of = of
	before := s.found
	switch {
	case len(of.service.Members) > 0:
		if s.found, err = LookAt(ctx, &of.service); err == nil {
			Narrow(s.found, &of.service, of.alone)
		}
	case of.alone:
		s.found, err = topology.Look(ctx, topology.Options{})
	}
	if err == nil {
		KeepLost(s.found, before)
		s.sites = othersSites(ctx, s.found, of)
	}
	return err
}

// othersSites returns the files of the service's nginx that are of other sites alone, as far as that
// is known: they are not written into the file, and no run would keep them.
func othersSites(ctx context.Context, found *topology.Found, of *subject) map[string]bool {
	var all []kasoku.Config
	for _, v := range found.Of(topology.Nginx) {
		kind := capture.KindFile
		if m := memberOf(&of.service, v); m != nil && len(m.Blocks) > 0 {
			kind = capture.KindNginx
		}
		for _, path := range v.Config {
			if c, err := capture.ReadFile(path); err == nil { // else it is not known
				c.Kind = kind
				all = append(all, c)
			}
		}
	}
	left := map[string]bool{}
	for i := range all {
		left[all[i].Name] = true
	}
	var targets []string
	if of.named.URL != "" {
		targets = []string{of.named.URL}
	}
	for _, c := range capture.WithoutOthersSites(ctx, all, &of.service, targets) {
		delete(left, c.Name)
	}
	return left
}

// KeepLost adds to a look at this host the notes of an earlier one on what a bug of kasoku
// hid from it: what was decided by the earlier one may be wrong.
func KeepLost(found, before *topology.Found) {
	for _, n := range before.Notes {
		same := func(x topology.Note) bool { return x.What == n.What }
		if strings.Contains(n.Why, contain.Phrase) && !slices.ContainsFunc(found.Notes, same) {
			found.Notes = append(found.Notes, n)
		}
	}
}

// LookAt looks at what runs here, and asks for their numbers only the programs of a service.
// Without one, none is asked.
func LookAt(ctx context.Context, service *kasoku.Service) (*topology.Found, error) {
	return topology.Look(ctx, topology.Options{Own: func(v *topology.Service) bool { return memberOf(service, v) != nil }})
}

// memberOf returns the member that a program is; nil when it is none.
func memberOf(service *kasoku.Service, v *topology.Service) *kasoku.Member {
	for i := range service.Members {
		m := &service.Members[i]
		if slices.ContainsFunc(append([]int{v.PID}, v.PIDs...), m.Has) {
			return m
		}
	}
	return nil
}

// Narrow leaves of what was found what belongs to a service. With alone no other service
// runs here.
func Narrow(found *topology.Found, service *kasoku.Service, alone bool) {
	member := func(v *topology.Service) *kasoku.Member { return memberOf(service, v) }
	lone := alone && len(service.Of(kasoku.RoleDatabase)) == 0 && len(found.Of(topology.MySQL)) == 1
	var kept []topology.Service
	labels, paths := map[string]bool{}, map[string]bool{}
	for i := range found.Services {
		v := &found.Services[i]
		m := member(v)
		if m == nil && (v.Kind != topology.MySQL || !lone) {
			continue
		}
		if v.MySQL != nil {
			v.MySQL.Clients = slices.DeleteFunc(slices.Clone(v.MySQL.Clients), func(name string) bool {
				return !slices.ContainsFunc(found.Of(topology.App), func(a *topology.Service) bool { return a.Name == name && member(a) != nil })
			})
		}
		if m != nil && m.Role == kasoku.RoleDatabase && v.Kind == topology.App {
			// It listens, and its program has no name that is known; its clients show what it is.
			v.Kind, v.Score = topology.Other, 0
			found.Logs = slices.DeleteFunc(found.Logs, func(l topology.Log) bool { return l.Kind == topology.AppLog && l.Service == v.Label() })
		}
		if m != nil && m.Role == kasoku.RoleApplication && v.Kind == topology.Other {
			v.Kind = topology.App
			for _, path := range m.Logs {
				found.Logs = append(found.Logs, topology.Log{Kind: topology.AppLog, Path: path, Service: v.Label(), How: "it is open there"})
			}
		}
		kept, labels[v.Label()] = append(kept, *v), true
		if m != nil {
			for _, path := range m.Logs {
				paths[path] = true
			}
		}
		switch {
		case v.Kind == topology.Nginx && m != nil && len(m.Configs) > 0: // it is known which sites it has
		case m != nil && servesOthers(v, m): // its leader has the logs of others
		default:
			for _, l := range found.Logs {
				paths[l.Path] = paths[l.Path] || l.Service == v.Label()
			}
		}
	}
	found.Services = kept
	found.Logs = slices.DeleteFunc(found.Logs, func(l topology.Log) bool { return !labels[l.Service] || !paths[l.Path] })
	found.Notes = slices.DeleteFunc(found.Notes, func(n topology.Note) bool {
		label, ok := strings.CutPrefix(n.What, "log of ")
		return ok && !labels[label]
	})
}

// servesOthers reports whether a program listens at more places than its member: that is one of
// several which a leader has, as the pools of PHP-FPM.
func servesOthers(v *topology.Service, m *kasoku.Member) bool {
	own := 0
	for _, l := range v.Listen {
		if slices.Contains(m.Listeners, kasoku.Listener{Network: l.Network, Address: l.Address, Private: l.Private}) {
			own++
		}
	}
	return own > 0 && own == len(m.Listeners) && own < len(v.Listen)
}

// tomlService writes which service is measured.
func (s *Surveyed) tomlService(w *tomlWriter) {
	w.table("service", "The service that is measured; the rest of this host is its neighbours. What is said here "+
		"overrules what is found.")
	if s.of == nil || len(s.of.service.Members) == 0 {
		w.example("url", "'http://127.0.0.1:8080/'", "")
		w.example("unit", "'app.service'", "")
		return
	}
	n := s.of.named
	w.say("%s", s.of.service.Picture()+".")
	for _, m := range s.of.service.Members {
		if len(m.Found) > 0 {
			w.say("- %s: %s.", cmp.Or(m.ID, m.Program), m.Found[0].Text)
		}
	}
	for _, u := range s.of.service.Unknown {
		w.say("Not known: %s: %s.", u.What, u.Why)
	}
	if n.URL != "" {
		w.set("url", QuoteTOML(n.URL), "")
	}
	if n.Port != 0 {
		w.set("port", strconv.Itoa(n.Port), "")
	}
	if n.Unit != "" {
		w.set("unit", QuoteTOML(n.Unit), "")
	}
}
