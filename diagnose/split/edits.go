package split

import (
	"cmp"
	"fmt"
	"net/netip"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/internal/lazyregexp"
	"github.com/kasoku/kasoku/internal/secret"
)

// An Edit is one thing to do on a host so that a layout comes to be, with its way back. Its text is never run:
// a person reviews it.
type Edit struct {
	Host  string // where; of statements, the host of the database
	Title string
	// File is what Text becomes; empty: Text are lines for a shell or a database, as Where says.
	File  string
	Where string
	Text  string   // of a File: all of it; a patch where Patch
	Patch bool     // Text is a unified diff of File
	Check string   // what says that it is good before it is in force; empty without one
	Apply string   // what puts it in force
	Back  string   // what undoes it
	Fill  []string // words in capitals of Text that a person fills in
	Note  string

	rank int
}

// The order of edits: nothing leads to a place before what is there is ready.
const (
	rankBind = iota
	rankInstall
	rankGrant
	rankListen
	rankFind // a member finds another one
	rankPass // requests come
)

// Steps are the edits of a layout, in the order in which they are made, each before what needs it.
type Steps struct {
	Edits []Edit
	Order []string // what goes with them
}

// An editor writes the edits of a layout.
type editor struct {
	*Plan
	rec  *kasoku.Recording
	at   map[string]string // private address by host; empty: to be filled in
	l    Layout
	out  Steps
	done map[string]bool
}

// Edits returns what makes a layout of the present one. addresses are the private addresses of hosts, as far
// as they are known; a host without one has a word in capitals that is to be filled in.
func (p *Plan) Edits(rec *kasoku.Recording, l Layout, addresses map[string]netip.Addr) Steps {
	p, at := p.guarded(addresses)
	e := &editor{Plan: p, rec: rec, l: l, at: at, done: map[string]bool{}}
	for _, i := range p.Moved(l) {
		e.program(i)
	}
	for i := range p.Service.Edges {
		if x := &p.Service.Edges[i]; apart(l[x.From], l[x.To]) > apart(p.present[x.From], p.present[x.To]) ||
			slices.Contains(p.Moved(l), x.To) {
			e.edge(x)
		}
	}
	slices.SortStableFunc(e.out.Edits, func(a, b Edit) int { return cmp.Compare(a.rank, b.rank) })
	return e.out
}

// word is what stands for a host whose address is not known.
func word(host string) string {
	return "ADDRESS_OF_" + strings.ToUpper(strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' {
			return r
		}
		return '_'
	}, host))
}

// address returns the private address of a host, or the word for it.
func (e *editor) address(k int) string {
	if a := e.at[e.Hosts[k].Name]; a != "" {
		return a
	}
	return word(e.Hosts[k].Name)
}

// safeName is what a run may name in a text that people paste: no shell, no option and no second line is in it.
var safeName = lazyregexp.New(`^[0-9A-Za-z_./@:+\[\]][0-9A-Za-z_./@:+\[\]=-]*$`)

// safe returns a name of the run, which may be a stranger's, or a word in its place.
func safe(name string) string {
	if name == "" || safeName().MatchString(name) {
		return name
	}
	return "NAME_IN_THE_RUN"
}

// unitNames are those that systemctl takes for a name, and not for the path of a file to be linked.
var unitNames = lazyregexp.New(`^[0-9A-Za-z_@:+][0-9A-Za-z_@:+.-]*$`)

func safeUnit(name string) string {
	if name == "" || unitNames().MatchString(name) {
		return name
	}
	return "UNIT_IN_THE_RUN"
}

// isSafePath reports whether a run may name a file so in a text that people paste: it leads nowhere else than it says.
func isSafePath(name string) bool { return safeName().MatchString(name) && path.Clean(name) == name }

// guarded returns the plan with safe names alone, and what the addresses of its hosts are by those.
func (p *Plan) guarded(addresses map[string]netip.Addr) (*Plan, map[string]string) {
	out, service, at := *p, *p.Service, map[string]string{}
	service.Members, service.Edges = slices.Clone(service.Members), slices.Clone(service.Edges)
	out.Hosts, out.Service = slices.Clone(p.Hosts), &service
	for k := range out.Hosts {
		h := &out.Hosts[k]
		a, ok := addresses[h.Name]
		if h.Name = safe(h.Name); ok {
			at[h.Name] = a.String()
		}
	}
	for i := range service.Members {
		m := &service.Members[i]
		if m.Of == nil {
			continue
		}
		of := *m.Of
		of.Program, of.Version, of.Unit = safe(of.Program), safe(of.Version), safeUnit(of.Unit)
		of.Configs = slices.DeleteFunc(slices.Clone(of.Configs),
			func(c string) bool { return !isSafePath(c) })
		m.Of = &of
	}
	for i := range service.Edges {
		of := *service.Edges[i].Of
		of.At.Address = safe(of.At.Address)
		service.Edges[i].Of = &of
	}
	return &out, at
}

// add adds an edit with what is to be filled in.
func (e *editor) add(x Edit) {
	if e.done[x.Host+x.File+x.Title] {
		return
	}
	e.done[x.Host+x.File+x.Title] = true
	for _, w := range fillWord().FindAllString(x.Text+x.Apply, -1) {
		if !slices.Contains(x.Fill, w) {
			x.Fill = append(x.Fill, w)
		}
	}
	e.out.Edits = append(e.out.Edits, x)
}

// fillWord is a word in capitals that stands for what is not known.
var fillWord = lazyregexp.New(`\b(ADDRESS_OF_[A-Z0-9_]+|APP_USER|APP_PASSWORD|APP_SCHEMA)\b`)

// program is a member that is brought to hosts where it was not.
func (e *editor) program(i int) {
	m := &e.Service.Members[i]
	for _, k := range e.l[i] {
		if slices.Contains(e.present[i], k) {
			continue
		}
		e.installed(m, k)
	}
}

// installed says what a member needs on a host before anything leads there.
func (e *editor) installed(m *Member, k int) {
	from, to := e.Hosts[m.Host].Name, e.Hosts[k].Name
	x := Edit{Host: to, Title: m.Of.Program + " on " + to, Where: "as root, in a shell", rank: rankInstall,
		Back: "stop it there; " + from + " has what it had"}
	switch m.Role {
	case kasoku.RoleDatabase:
		dump, load := "mariadb-dump", "mariadb"
		if !e.mariadb() {
			dump, load = "mysqldump", "mysql"
		}
		schema := e.schema()
		x.Text = fmt.Sprintf("# %s %s is installed on %s, with the option files of %s: %s\n"+
			"ssh %s %s --single-transaction --routines --triggers --databases %s | ssh %s %s\n",
			m.Of.Program, m.Of.Version, to, from, strings.Join(m.Of.Configs, " "), from, dump, schema, to, load)
		x.Note = "What is written on " + from + " after the dump is not on " + to + ": stop the application first. " +
			"The way back loses what was written on " + to + " since, unless it is dumped likewise."
	case kasoku.RoleApplication:
		files := slices.Concat(e.unitFiles(m), []string{"the program and its files"})
		x.Text = fmt.Sprintf("# copied from %s to %s: %s\n", from, to, strings.Join(files, " "))
		if m.Of.Unit != "" {
			x.Text += "systemctl daemon-reload && systemctl start " + unitName(m.Of) + "\n"
		}
		x.Note = "What the application keeps in memory or writes to files is that copy's own."
	default:
		x.Text = fmt.Sprintf("# %s %s is installed on %s, with %s\n", m.Of.Program, m.Of.Version, to,
			strings.Join(m.Of.Configs, " "))
	}
	e.add(x)
	if e.gone(m) && m.Of.Unit != "" {
		e.out.Order = append(e.out.Order, fmt.Sprintf("on %s, in the end: systemctl disable --now %s; back: "+
			"systemctl enable --now %[2]s",
			from, unitName(m.Of)))
	}
}

// gone reports whether a member is no more where it was.
func (e *editor) gone(m *Member) bool {
	return !slices.Contains(e.l[e.Service.member(m.ID)], m.Host)
}

// unitName is the unit with its ending.
func unitName(m *kasoku.Member) string {
	if strings.Contains(m.Unit, ".") {
		return m.Unit
	}
	return m.Unit + ".service"
}

// edge is what a member has to know of another one that is no more beside it.
func (e *editor) edge(x *Edge) {
	from, to := &e.Service.Members[x.From], &e.Service.Members[x.To]
	switch to.Role {
	case kasoku.RoleDatabase:
		e.bind(to)
		e.grants(from, to)
		e.environment(from, to, x)
	case kasoku.RoleApplication, kasoku.RoleCache:
		e.listens(to, x)
		if from.Role == kasoku.RoleWeb {
			e.upstream(from, to, x)
		} else {
			e.environment(from, to, x)
		}
	case kasoku.RoleStore:
		e.storeBind(to)
		e.environment(from, to, x)
	default:
		e.environment(from, to, x)
	}
}

// hostsOf are the hosts of a member in the layout.
func (e *editor) hostsOf(m *Member) []int { return e.l[e.Service.member(m.ID)] }

// storeBind has a key-value store listen at the private address.
func (e *editor) storeBind(to *Member) {
	for _, k := range e.hostsOf(to) {
		text := "bind 127.0.0.1 " + e.address(k) + "\n"
		where := "redis.conf"
		if strings.Contains(to.Of.Program, "memcached") {
			text, where = "-l 127.0.0.1,"+e.address(k)+"\n", "memcached.conf"
		}
		for _, c := range to.Of.Configs {
			if strings.HasSuffix(c, ".conf") {
				where = c
			}
		}
		e.add(Edit{rank: rankBind, Host: e.Hosts[k].Name, Title: to.Of.Program + " listens at the private address",
			Where: "in " + where + ", instead of the line there",
			Text:  text, Back: "the line of before, and a restart", Note: "Redis asks for a password of its own, " +
				"or protected-mode no, from other hosts."})
	}
}

// loopback is a host of a value that means this machine.
var loopback = lazyregexp.New(`\b(127\.0\.0\.1|localhost)\b|\[::1\]`)

// hostKey is a variable whose value is, or has, an address.
var hostKey = lazyregexp.New(`(?i)(HOST|ADDR|URL|URI|DSN|SERVER|ENDPOINT|SOCK)`)

// environment has a member find another one at its new address, by a drop-in of its unit.
func (e *editor) environment(from, to *Member, x *Edge) {
	target := e.hostsOf(to)
	for _, k := range e.hostsOf(from) {
		if slices.Contains(target, k) { // beside it
			continue
		}
		at := e.address(target[0])
		lines, masked := e.variables(from.Of, to, at)
		host := e.Hosts[k].Name
		what := fmt.Sprintf("%s finds %s at %s", from.Of.Program, to.Of.Program, at)
		port := ""
		if p := x.Of.At.Port(); p > 0 {
			port = ":" + strconv.Itoa(p)
		}
		if len(lines) == 0 || from.Of.Unit == "" {
			text := fmt.Sprintf("# where %s has the address of %s: a variable, a file. It becomes %s%s",
				from.Of.Program, x.Of.At, at, port)
			if len(masked) > 0 {
				text += "\n# its value is a secret, and so not printed: " + strings.Join(masked, ", ")
			}
			e.add(Edit{rank: rankFind, Host: host, Title: what, Where: "in the environment or the configuration of " +
				from.Of.Program, Text: text + "\n",
				Back: "the value of before"})
			continue
		}
		file := "/etc/systemd/system/" + unitName(from.Of) + ".d/kasoku-split.conf"
		unit := unitName(from.Of)
		e.add(Edit{rank: rankFind, Host: host, Title: what, File: file,
			Text:  "# written by kasoku split\n[Service]\n" + strings.Join(lines, "\n") + "\n",
			Check: "systemd-analyze verify " + unit, Apply: "systemctl daemon-reload && systemctl restart " + unit,
			Back: "rm " + file + " && systemctl daemon-reload && systemctl restart " + unit,
			Note: maskedNote(masked)})
	}
}

func maskedNote(masked []string) string {
	if len(masked) == 0 {
		return ""
	}
	return "Not printed, as its value is a secret: " + strings.Join(masked, ", ") + ". Its host changes likewise."
}

// assignment is a line of a unit or of an environment file.
var assignment = lazyregexp.New(`^\s*(?:export\s+)?(?:Environment=)?"?([A-Za-z_][A-Za-z0-9_]*)=(.*)$`)

// variables returns the lines of a drop-in by which a member's variables lead to another host, and the names
// of those whose value is masked.
func (e *editor) variables(m *kasoku.Member, to *Member, at string) (lines, masked []string) {
	for _, c := range e.unitConfigs(m) {
		for line := range strings.Lines(c.Text) {
			f := assignment().FindStringSubmatch(strings.TrimRight(line, "\r\n"))
			if f == nil || !hostKey().MatchString(f[1]) || !leadsTo(f[1], f[2], to) {
				continue
			}
			value := strings.Trim(f[2], `"' `)
			if strings.Contains(value, kasoku.MaskedSecret) || secret.MaskSetting(f[1], value) != value {
				masked = append(masked, f[1])
				continue
			}
			if now := loopback().ReplaceAllString(value, at); now != value && !strings.ContainsAny(now, "\"\n\\%") {
				lines = append(lines, fmt.Sprintf("Environment=\"%s=%s\"", f[1], now))
			}
		}
	}
	return lines, masked
}

// leadsTo reports whether a variable is about a member: by its name, or the port in its value.
func leadsTo(name, value string, to *Member) bool {
	name = strings.ToLower(name)
	for _, l := range to.Of.Listeners {
		if p := l.Port(); p > 0 && strings.Contains(value, ":"+strconv.Itoa(p)) {
			return true
		}
	}
	words := map[kasoku.MemberRole][]string{
		kasoku.RoleDatabase:    {"mysql", "maria", "db", "database"},
		kasoku.RoleStore:       {"redis", "memcache", "cache"},
		kasoku.RoleApplication: {"app", "backend", "api"},
	}
	return slices.ContainsFunc(words[to.Role], func(w string) bool { return strings.Contains(name, w) })
}

// unitConfigs are the texts of the run that set a member's environment.
func (e *editor) unitConfigs(m *kasoku.Member) (out []*kasoku.Config) {
	for i := range e.rec.Configs {
		c := &e.rec.Configs[i]
		if isSafePath(c.Name) && (c.Host == m.Host || c.Host == "") && (c.Kind == "unit" &&
			strings.Contains(c.Name,
				strings.TrimSuffix(m.Unit, ".service")) && m.Unit != "" ||
			c.Kind == "file" && strings.Contains(strings.ToLower(path.Base(c.Name)), "env")) {
			out = append(out, c)
		}
	}
	return out
}

func (e *editor) unitFiles(m *Member) (out []string) {
	for _, c := range e.unitConfigs(m.Of) {
		out = append(out, c.Name)
	}
	return out
}
