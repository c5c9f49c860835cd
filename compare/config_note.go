package compare

import (
	"path"
	"slices"
	"strings"
	"unicode"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/internal/unit"
)

// Unmentioned returns what changed that a note does not mention, in the order of the
// changes: "max_connections 151 → 500", "index shop.users.idx_mail added",
// "/etc/nginx/nginx.conf", "code main@4f2c91e → main@9b07d3a".
//
// A change is mentioned when the note has two words of its name in a row, or one
// long one; the name of the file, table, index or column; or a long word of the
// lines that differ. A note that only names a sort, such as "indexes added", means
// all of that sort, unless it names one of them.
func Unmentioned(note string, changes []Changed, configs []ConfigDiff) []string {
	text := " " + strings.Join(stems(note), " ") + " "
	all := claims(changes, configs)
	named := map[string]bool{} // sorts of which one is named
	for i := range all {
		if all[i].named = all[i].in(text); all[i].named {
			named[all[i].sort] = true
		}
	}
	var out []string
	for _, c := range all {
		if !c.named && (named[c.sort] || !mentions(text, sortWords[c.sort])) {
			out = append(out, c.what)
		}
	}
	return out
}

// A claim is a change with the words that a note would mention it by.
type claim struct {
	what    string
	sort    string   // index, table, nginx, mysql, code …
	phrases []string // one of them in the note is enough
	named   bool
}

func (c claim) in(text string) bool { return mentions(text, c.phrases) }

// mentions reports whether a text of stems has one of the phrases.
func mentions(text string, phrases []string) bool {
	return slices.ContainsFunc(phrases, func(p string) bool {
		s := strings.Join(stems(p), " ")
		return s != "" && strings.Contains(text, " "+s+" ")
	})
}

// sortWords are what a note calls a whole sort of changes.
var sortWords = map[string][]string{
	"index":  {"index", "indices", "idx"},
	"table":  {"table", "schema", "column", "ddl", "migration"},
	"nginx":  {"nginx"},
	"vcl":    {"vcl", "varnish"},
	"unit":   {"unit", "systemd", "service"},
	"mysql":  {"mysql", "mariadb", "my.cnf", "database"},
	"sysctl": {"sysctl", "kernel"},
	"code":   {"code", "commit", "revision", "refactoring", "refactored", "deploy", "app", "application", "query"},
	"watch":  {"observer", "observation"},
}

// claims turns changes into claims, one for each index. The machine is left out: it
// has a warning of its own.
func claims(changes []Changed, configs []ConfigDiff) []claim {
	find := func(kind func(string) bool, name string) *ConfigDiff {
		i := slices.IndexFunc(configs, func(d ConfigDiff) bool { return kind(d.Kind) && d.Name == name })
		if i < 0 {
			return nil
		}
		return &configs[i]
	}
	var out []claim
	for _, c := range changes {
		switch c.Kind {
		case SettingChanged:
			out = append(out, settingClaim(c))
		case SchemaChange:
			out = append(out, tableClaims(c, find(func(k string) bool { return k == "schema" }, c.Name))...)
		case ConfigChange:
			out = append(out, fileClaim(c, find(func(k string) bool { return k != "schema" }, c.Name)))
		case CodeChange:
			out = append(out, codeClaim(c, configs))
		case ObserverChange:
			out = append(out, claim{what: "observers " + values(c), sort: "watch"})
		}
	}
	return out
}

func values(c Changed) string {
	show := func(s string) string {
		if r := []rune(s); len(r) > 40 {
			s = string(r[:40]) + "…"
		}
		if s == "" {
			return unit.Missing
		}
		return s
	}
	return show(c.Before) + " → " + show(c.After)
}

// common are words that many settings have.
var common = []string{"connection", "thread", "timeout", "buffer", "instance", "interval", "capacity", "cache", "core",
	"ipv4", "size", "file", "time", "limit", "open"}

func settingClaim(c Changed) claim {
	parts := stems(c.Name)
	out := claim{what: c.Name + " " + values(c), sort: "mysql", phrases: []string{c.Name}}
	least := len("distinct")
	if strings.ContainsAny(c.Name, ". ") { // of the kernel, a process or the application
		out.sort, least = "", len("pool")
	}
	if first, _, _ := strings.Cut(c.Name, "."); slices.Contains([]string{"fs", "kernel", "net", "vm"}, first) {
		out.sort = "sysctl"
	}
	for i, p := range parts {
		if i > 0 {
			out.phrases = append(out.phrases, parts[i-1]+" "+p)
		}
		if len(p) >= least && !slices.Contains(common, p) {
			out.phrases = append(out.phrases, p)
		}
	}
	return out
}

func tableClaims(c Changed, d *ConfigDiff) []claim {
	_, table, _ := strings.Cut(c.Name, ".")
	whole := claim{what: "table " + c.Name, sort: "table", phrases: []string{c.Name, table}}
	if d == nil {
		return []claim{whole}
	}
	switch {
	case d.Before == nil:
		whole.what += " new"
	case d.After == nil:
		whole.what += " gone"
	}
	var out []claim
	lines := d.Added + d.Removed
	for _, i := range d.Indexes {
		x := claim{what: strings.Replace(i.String(), "index ", "index "+c.Name+".", 1), sort: "index",
			phrases: []string{i.Name, table, c.Name}}
		if i.Before != nil {
			x.phrases, lines = append(x.phrases, i.Before.Columns...), lines-1
		}
		if i.After != nil {
			x.phrases, lines = append(x.phrases, i.After.Columns...), lines-1
		}
		out = append(out, x)
	}
	// The comma added to the previous line makes that one differ too.
	if len(out) > 0 && lines <= 2 {
		return out
	}
	whole.phrases = append(whole.phrases, changedWords(d.Diff)...)
	return append(out, whole)
}

func fileClaim(c Changed, d *ConfigDiff) claim {
	base := path.Base(c.Name)
	out := claim{what: c.Name, phrases: []string{base, strings.TrimSuffix(base, path.Ext(base))}}
	if d != nil {
		out.sort, out.what = d.Kind, c.Name+" ("+d.String()+")"
		out.phrases = append(out.phrases, changedWords(d.Diff)...)
	}
	return out
}

func codeClaim(c Changed, configs []ConfigDiff) claim {
	out := claim{what: strings.TrimSpace("code " + c.Name), sort: "code", phrases: []string{c.Before, c.After}}
	if c.Name == "" {
		out.what = "code " + values(c)
	}
	for _, rev := range []string{c.Before, c.After} {
		branch, hash, _ := strings.Cut(rev, "@")
		out.phrases = append(out.phrases, branch, hash)
	}
	for _, d := range configs {
		if d.Kind == "git" {
			out.phrases = append(out.phrases, changedWords(d.Diff)...)
		}
	}
	return out
}

// leastWord is the least length of a word of a diff that distinguishes one change from others,
// and mostWords how many words are looked at.
const (
	leastWord = 5
	mostWords = 2000
)

// changedWords returns the long words of the lines that a diff adds or removes, the
// subject of a commit and the names of files among them.
func changedWords(diff string) []string {
	var out []string
	for line := range strings.Lines(diff) {
		if !strings.HasPrefix(line, "+") && !strings.HasPrefix(line, "-") {
			continue
		}
		for _, w := range stems(line) {
			if len(w) >= leastWord && !slices.Contains(common, w) && strings.ContainsFunc(w, unicode.IsLetter) {
				out = append(out, w)
			}
		}
		if len(out) > mostWords {
			break
		}
	}
	return out
}

// stems parts a text into words in small letters, without the s of a plural.
func stems(s string) []string {
	words := strings.FieldsFunc(strings.ToLower(s), func(r rune) bool {
		return !unicode.IsLetter(r) &&
			!unicode.IsDigit(r)
	})
	for i, w := range words {
		switch {
		case strings.HasSuffix(w, "xes"), strings.HasSuffix(w, "sses"), strings.HasSuffix(w, "ches"):
			words[i] = w[:len(w)-2]
		case strings.HasSuffix(w, "ies"):
			words[i] = w[:len(w)-3] + "y"
		case len(w) > 3 && strings.HasSuffix(w, "s") && !strings.HasSuffix(w, "ss"):
			words[i] = w[:len(w)-1]
		}
	}
	return words
}

// mostUnmentioned is how many changes a warning lists.
const mostUnmentioned = 6

// warnUnmentioned warns of what changed that the note of the side after does not mention.
func (c *Comparison) warnUnmentioned(after []*kasoku.Recording) {
	var notes []string
	for _, r := range after {
		if !slices.Contains(notes, r.Run.Note) {
			notes = append(notes, r.Run.Note)
		}
	}
	note := strings.TrimSpace(strings.Join(notes, " "))
	missing := Unmentioned(note, c.Changes, c.Configs)
	if len(missing) == 0 {
		return
	}
	text := "changed, and not in the note: "
	if note == "" {
		text = "the note says nothing; these changed: "
	}
	shown := missing[:min(len(missing), mostUnmentioned)]
	text += strings.Join(shown, ", ")
	if n := len(missing) - len(shown); n > 0 {
		text += " and " + unit.Count(n) + " more"
	}
	c.Warnings = append(c.Warnings, kasoku.Warning{Code: "not-in-note", Text: text,
		Hint: "`kasoku note` says it, so that the list of runs does"})
}
