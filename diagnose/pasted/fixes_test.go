package pasted

import (
	"fmt"
	"go/format"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"text/tabwriter"
	"time"

	"github.com/go-sql-driver/mysql"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/diagnose"
	"github.com/kasoku/kasoku/diagnose/internal/extract"
	"github.com/kasoku/kasoku/diagnose/rules"
	"github.com/kasoku/kasoku/internal/test/peertest"
	"github.com/kasoku/kasoku/internal/test/turn"
	"github.com/kasoku/kasoku/observe/cgroup"
)

// A fix is one that a rule prints, other than SQL.
type fix struct {
	kasoku.Fix
	rule, shows string // the case, and what was changed of it
	conf        string // nginx's configuration as the case has it
	dir         string // in which that file stands
}

// languages are those that an application may be written in; the last is not known.
var languages = []string{"go", "ruby", "python", "php", "javascript", "java", "rust", ""}

// files are paths of the recorded cases that are files below a root.
const files = "/srv/pasted/public"

// changes make of a recorded case others in which rules print other fixes.
func changes() map[string]func(rec *kasoku.Recording) {
	setting := func(scope, name, value string) func(rec *kasoku.Recording) {
		return func(rec *kasoku.Recording) {
			rec.Settings = append(slices.Clip(rec.Settings), kasoku.Setting{Scope: scope, Name: name, Value: value})
		}
	}
	out := map[string]func(rec *kasoku.Recording){
		"as recorded":       func(*kasoku.Recording) {},
		"half a second":     setting(kasoku.ContractScope, "stale GET /**", "500ms"),
		"ten seconds":       setting(kasoku.ContractScope, "stale GET /**", "10s"),
		"boards may be old": setting(kasoku.ContractScope, "stale GET /v1/board", "10s"),
		"bots may get 503":  setting("app", "contract.bots", "503"),
		"with nginx.conf, files found": func(rec *kasoku.Recording) {
			for i := range rec.Endpoints {
				setting(kasoku.FilesScope, rec.Endpoints[i].Route, files)(rec)
			}
		},
	}
	for _, l := range languages {
		out["an application in "+l] = func(rec *kasoku.Recording) { rec.Service = servedBy(rec.Service, l, "") }
	}
	for _, x := range [][3]string{
		{"Django", "python", "SELECT `board`.`id`, `board`.`name` FROM `board` WHERE `board`.`id` = ?"},
		{"SQLAlchemy", "python", "SELECT board.id AS board_id, board.name AS board_name FROM board WHERE board.id = ?"},
		{"Rails", "ruby", "SELECT id FROM boards WHERE id = ? /*action:show,controller:boards*/"},
		{"ActiveRecord", "ruby", "SELECT `boards`.* FROM `boards` WHERE `boards`.`id` = ?"},
	} {
		out["statements of "+x[0]] = func(rec *kasoku.Recording) {
			rec.Service = servedBy(rec.Service, x[1], "")
			rec.Queries = []kasoku.Query{{ID: "M", Verb: "SELECT", Fingerprint: x[2], Calls: 1000}}
		}
	}
	for _, x := range [][2]string{{"ruby", "unicorn"}, {"python", "uvicorn"}, {"javascript", "pm2"}, {"php", "php-fpm"}} {
		out["an application of "+x[1]] = func(rec *kasoku.Recording) { rec.Service = servedBy(rec.Service, x[0], x[1]) }
	}
	return out
}

// servedBy returns the service with its application in a language, of a server of applications
// if one is named, and with nginx.
func servedBy(was *kasoku.Service, language, framework string) *kasoku.Service {
	s := kasoku.Service{}
	if was != nil {
		s = *was
	}
	app := kasoku.Member{ID: "application", Role: kasoku.RoleApplication, Program: "app", Sure: kasoku.High}
	if i := slices.IndexFunc(s.Members, func(m kasoku.Member) bool { return m.Role == kasoku.RoleApplication }); i >= 0 {
		app = s.Members[i] // with its processes
	}
	app.Language = language
	if framework != "" {
		app.Framework = framework
	}
	s.Members = slices.DeleteFunc(slices.Clone(s.Members), func(m kasoku.Member) bool { return m.Role == kasoku.RoleApplication })
	s.Members = append(s.Members, app,
		kasoku.Member{ID: "web", Role: kasoku.RoleWeb, Program: "nginx", Sure: kasoku.High})
	return &s
}

// allFixes returns what rules print of all recorded cases, each text once.
func allFixes(t *testing.T) []fix {
	t.Helper()
	fixesOnce.Do(func() { fixesRead = readFixes(t) })
	return fixesRead
}

var (
	fixesOnce sync.Once
	fixesRead []fix
)

func readFixes(t *testing.T) (out []fix) {
	seen, all := map[string]bool{}, changes()
	for _, r := range rules.All() {
		paths, err := filepath.Glob(filepath.Join("..", "rules", "testdata", r.ID(), "fires", "*.txtar"))
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range paths {
			data, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			g, err := extract.ParseGroup(data)
			if err != nil {
				t.Fatal(err)
			}
			for _, how := range slices.Sorted(maps.Keys(all)) {
				rec := *g.Run
				if !slices.ContainsFunc(rec.Configs, func(k kasoku.Config) bool { return k.Kind == "nginx" }) && strings.HasPrefix(how, "with nginx.conf") {
					rec.Configs = append(slices.Clip(rec.Configs), kasoku.Config{Kind: "nginx", Name: "/recorded/nginx.conf", Text: plainConf})
				}
				all[how](&rec)
				c := diagnose.NewCase(&rec, g.Baseline)
				c.Repeats, c.Baselines = g.Repeats, g.Baselines
				found, _ := r.Check(c)
				for _, f := range found {
					for _, x := range f.Fixes {
						key := r.ID() + x.Lang + x.Code
						if x.Lang == "sql" || x.Code == "" && x.Lang == "" || seen[key] {
							continue
						}
						seen[key] = true
						n := fix{Fix: x, rule: r.ID(), shows: strings.TrimSuffix(filepath.Base(path), ".txtar") + ", " + how}
						if i := slices.IndexFunc(rec.Configs, func(k kasoku.Config) bool { return k.Kind == "nginx" }); i >= 0 {
							n.conf, n.dir = rec.Configs[i].Text, filepath.Dir(rec.Configs[i].Name)
						}
						out = append(out, n)
					}
				}
			}
		}
	}
	return append(out, made(t)...)
}

// made are fixes of cases that are made here, as no recorded one has them.
func made(t *testing.T) (out []fix) {
	log := kasoku.Message{Kind: kasoku.MessageNginx, Path: "/var/log/nginx/error.log", Level: "crit", Count: 500,
		Pattern: "accept4() failed (24: Too many open files)", Sample: "accept4() failed (24: Too many open files)",
		First: time.Second, Last: 9 * time.Second, Seconds: map[int]uint64{1: 250, 8: 250}}
	rec := &kasoku.Recording{Run: kasoku.Run{Length: 10 * time.Second}, Messages: []kasoku.Message{log}}
	for _, r := range rules.All() {
		if r.ID() == "OS-04" {
			out = append(out, quotaFixes(t, r)...)
		}
		if r.ID() == "POOL-06" {
			out = append(out, onlyConnectionFixes(t, r)...)
		}
		if r.ID() == "OS-01" {
			found, silent := r.Check(diagnose.NewCase(rec, nil))
			if len(found) != 1 {
				t.Fatalf("OS-01 of nginx: %+v", silent)
			}
			for _, x := range found[0].Fixes {
				if x.Lang != "" {
					out = append(out, fix{Fix: x, rule: r.ID(), shows: "nginx has too many open files"})
				}
			}
		}
	}
	return out
}

// onlyConnectionFixes are those of POOL-06 for the one connection of a program, by its language; the
// recorded cases are of pools that are published.
func onlyConnectionFixes(t *testing.T, r diagnose.Rule) (out []fix) {
	rec := &kasoku.Recording{Run: kasoku.Run{Length: 10 * time.Second, Hosts: []kasoku.Host{{Cores: 2}}},
		Settings:  []kasoku.Setting{kasoku.SentOver("", 1)},
		Queries:   []kasoku.Query{{ID: "Q", Verb: "SELECT", Fingerprint: "select ?", Calls: 1000, Total: 8 * time.Second}},
		Endpoints: []kasoku.Endpoint{{Method: "GET", Route: "/", Count: 100, Codes: map[int]uint64{200: 100}, Total: time.Minute, Seconds: map[int]kasoku.EndpointSecond{}}}}
	for s := range 10 {
		rec.Endpoints[0].Seconds[s] = kasoku.EndpointSecond{Count: 10}
	}
	for key, perSec := range map[kasoku.Key]float64{
		{Source: diagnose.Host, Name: "cpu.user"}: 0.9, {Source: diagnose.Host, Name: "cpu.idle"}: 1.1, {Source: diagnose.MySQL, Name: "Questions"}: 100,
		{Source: diagnose.Process, Name: "cpu.user", Instance: "10 mysqld"}: 0.6, {Source: diagnose.Process, Name: "cpu.user", Instance: "20 app"}: 0.3,
	} {
		s := kasoku.Series{Key: key, Kind: kasoku.Counter}
		for second := range 11 {
			s.Points = append(s.Points, kasoku.Point{At: time.Duration(second) * time.Second, Value: perSec * float64(second)})
		}
		rec.Series = append(rec.Series, s)
	}
	for _, l := range []string{"go", "javascript"} {
		rec.Service = &kasoku.Service{Members: []kasoku.Member{
			{ID: "d", Role: kasoku.RoleDatabase, Program: "mysqld", Sure: kasoku.High, Processes: []kasoku.MemberProcess{{PID: 10, Leader: true}}},
			{ID: "a", Role: kasoku.RoleApplication, Program: "app", Language: l, Sure: kasoku.High, Processes: []kasoku.MemberProcess{{PID: 20, Leader: true}}}}}
		found, silent := r.Check(diagnose.NewCase(rec, nil))
		if len(found) != 1 {
			t.Fatalf("POOL-06 in %s: %+v", l, silent)
		}
		out = append(out, fix{Fix: found[0].Fixes[0], rule: r.ID(), shows: "the only connection of a program in " + l})
	}
	return out
}

// quotaFixes are those of OS-04 by what set the quota; the recorded cases are of a unit.
func quotaFixes(t *testing.T, r diagnose.Rule) (out []fix) {
	id := strings.Repeat("0123456789abcdef", 4)
	for _, path := range []string{"/docker/" + id, "/machine.slice/libpod-" + id + ".scope", "/kubepods/burstable/" + id} {
		m := kasoku.Member{ID: "a", Role: kasoku.RoleApplication, Program: "shop", Sure: kasoku.High, Cgroup: path, Container: id[:12]}
		rec := &kasoku.Recording{Run: kasoku.Run{Length: 10 * time.Second}, Service: &kasoku.Service{Members: []kasoku.Member{m}}}
		for name, perSec := range map[string]float64{cgroup.CPUMax: 0, cgroup.CPUPeriods: 10, cgroup.CPUThrottledPeriods: 9, cgroup.CPUThrottled: 0.5} {
			s := kasoku.Series{Kind: kasoku.Counter, Key: kasoku.Key{Source: diagnose.Cgroup, Name: name,
				Instance: strings.ReplaceAll(filepath.Base(path), id, id[:12])}}
			for second := range 11 {
				s.Points = append(s.Points, kasoku.Point{At: time.Duration(second) * time.Second, Value: 1 + perSec*float64(second)})
			}
			rec.Series = append(rec.Series, s)
		}
		found, silent := r.Check(diagnose.NewCase(rec, nil))
		if len(found) != 1 {
			t.Fatalf("OS-04 in %s: %+v", path, silent)
		}
		out = append(out, fix{Fix: found[0].Fixes[0], rule: r.ID(), shows: "a quota of " + path})
	}
	return out
}

// TestFixesAreNoTemplates: what is printed to be pasted has no dots or words in capitals to
// be filled in, in any language.
func TestFixesAreNoTemplates(t *testing.T) {
	turn.Wait(t)
	for _, f := range allFixes(t) {
		if f.Code == "" || strings.Contains(f.Code, "…") || regexp.MustCompile(`\b(DIRECTORY|PATH|NAME|TABLE_NAME)\b`).MatchString(f.Code) {
			t.Errorf("%s, %s, %s: a template:\n%s", f.rule, f.shows, f.Lang, f.Code)
		}
	}
	for _, p := range allPrinted(t) {
		if strings.Contains(p.code, "…") {
			t.Errorf("%s, %s: a template:\n%s", p.rule, p.path, p.code)
		}
	}
}

// TestEveryLanguageHasACase: each language of code that stands in the source of a rule is
// printed in a case here.
func TestEveryLanguageHasACase(t *testing.T) {
	all := allFixes(t)
	sources, err := filepath.Glob("../rules/*/*.go")
	if err != nil || len(sources) == 0 {
		t.Fatal(err)
	}
	named := regexp.MustCompile(`^([a-z]+)(\d\d)_`)
	lang := regexp.MustCompile(`Lang(?:: +| = |, f\.\w+ = )"([a-z]+)"`)
	for _, path := range sources {
		n := named.FindStringSubmatch(filepath.Base(path))
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range lang.FindAllStringSubmatch(string(data), -1) {
			if n == nil || m[1] == "sql" {
				continue
			}
			rule := strings.ToUpper(n[1]) + "-" + n[2]
			if !slices.ContainsFunc(all, func(f fix) bool { return f.rule == rule && f.Lang == m[1] }) {
				t.Errorf("%s prints %s in no case here", rule, m[1])
			}
		}
	}
}

// TestAllFixes gives each fix to the program that it is for, with the file that it belongs
// to, and prints the table of all. A language whose tool is not installed is "not checked".
func TestAllFixes(t *testing.T) {
	nginx := peertest.Path(t, "nginx") // in a short run there are no servers
	k := checker{t: t, nginx: nginx}
	var table strings.Builder
	w := tabwriter.NewWriter(&table, 0, 4, 2, ' ', 0)
	all := allFixes(t)
	slices.SortStableFunc(all, func(a, b fix) int { return strings.Compare(a.rule+a.Lang, b.rule+b.Lang) })
	for _, f := range all {
		said, err := k.check(f)
		if err != nil {
			t.Errorf("%s, %s, %s: %v\n%s", f.rule, f.shows, f.Lang, err, f.Code)
			said = "WRONG"
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", f.rule, f.Lang, said, f.shows)
	}
	w.Flush()
	t.Logf("\n%s", table.String())
}

// A checker gives fixes to programs.
type checker struct {
	t     *testing.T
	nginx string
}

// tools read one file of a language and run none of it.
var tools = map[string]struct {
	file string
	args []string
	wrap func(code string) string
}{
	"ruby":       {"fix.rb", []string{"ruby", "-c"}, nil},
	"yaml":       {"fix.yml", []string{"ruby", "-ryaml", "-e", "YAML.safe_load_file(ARGV[0]) or abort"}, nil},
	"php":        {"fix.php", []string{"php", "-l"}, func(code string) string { return "<?php\n" + statement(code) }},
	"python":     {"fix.py", []string{"python3", "-m", "py_compile"}, pythonFile},
	"javascript": {"fix.mjs", []string{"node", "--check"}, nil},
	"sh":         {"fix.sh", []string{"sh", "-n"}, nil},
}

// statement ends code with a semicolon, before a comment at its end.
func statement(code string) string {
	code, comment, _ := strings.Cut(code, " //")
	return strings.TrimSuffix(code, ";") + "; //" + comment
}

// pythonFile puts entries of a dictionary into one.
func pythonFile(code string) string {
	if strings.HasPrefix(code, `"`) {
		return "{\n" + code + "\n}\n"
	}
	return code
}

func (k *checker) check(f fix) (string, error) {
	var done []string
	for _, code := range sides(f.Code) {
		said, err := k.checkOne(f, code)
		if err != nil {
			return "", err
		}
		done = append(done, said)
	}
	return strings.Join(slices.Compact(done), ", "), nil
}

// sides returns what a diff takes away and what it adds; code without lines of a diff is one.
func sides(code string) []string {
	sets := map[byte][]string{}
	for line := range strings.SplitSeq(code, "\n") {
		for _, sign := range []byte("-+") {
			if text, ok := strings.CutPrefix(line, string(sign)+" "); ok {
				sets[sign] = append(sets[sign], text)
			}
		}
	}
	if len(sets) < 2 {
		return []string{code}
	}
	return []string{strings.Join(sets['-'], "\n"), strings.Join(sets['+'], "\n")}
}

func (k *checker) checkOne(f fix, code string) (string, error) {
	switch f.Lang {
	case "go":
		return goCode(code)
	case "nginx":
		return k.nginxFile(f)
	case "vcl":
		return k.vclFile(code)
	case "ini":
		if strings.HasPrefix(f.rule, "TS-") {
			return k.carbonFile(code)
		}
		return k.iniFile(code)
	case "java":
		return k.javaFile(code)
	case "properties":
		for line := range strings.Lines(code) {
			if key, value, ok := strings.Cut(strings.TrimSpace(line), "="); !ok || key == "" || value == "" {
				return "", fmt.Errorf("%q is no property", line)
			}
		}
		return uncheckedFix(f, "keys and values")
	}
	tool, ok := tools[f.Lang]
	if !ok {
		return dsnPart(f, code)
	}
	if tool.wrap != nil {
		code = tool.wrap(code)
	}
	return k.run(tool.file, code+"\n", tool.args...)
}

// carbonFile looks the settings up that carbon knows, in its own source; those of go-carbon have other names.
func (k *checker) carbonFile(code string) (string, error) {
	const source = "/usr/lib/python3/dist-packages/carbon/conf.py"
	known, err := os.ReadFile(source)
	if err != nil {
		return "not checked: no " + source, nil
	}
	for line := range strings.Lines(code) {
		key, value, ok := strings.Cut(strings.TrimSpace(line), " = ")
		if !ok || value == "" || key == strings.ToUpper(key) && !strings.Contains(string(known), "  "+key+"=") {
			return "", fmt.Errorf("%q is no setting of carbon", line)
		}
	}
	return "known to carbon", nil
}

// uncheckedFix is a fix that no tool here can read, which must say so.
func uncheckedFix(f fix, what string) (string, error) {
	if !strings.Contains(f.Note, "Not checked") {
		return "", fmt.Errorf("%s without a check does not say \"Not checked\": %s", what, f.Note)
	}
	return what + "; says \"Not checked\"", nil
}

// dsnPart has Go's driver read a parameter of its DSN; it knows those of no other driver.
func dsnPart(f fix, code string) (string, error) {
	cfg, err := mysql.ParseDSN("app@tcp(127.0.0.1:3306)/shop?" + code)
	switch {
	case err != nil:
		return "", err
	case len(cfg.Params) > 0: // it sends those to the server as variables
		return uncheckedFix(f, "a part of an address")
	}
	return "read by go-sql-driver/mysql", nil
}

// run gives a file to a program.
func (k *checker) run(file, text string, args ...string) (string, error) {
	program, err := exec.LookPath(args[0])
	if err != nil {
		return "not checked: no " + args[0], nil
	}
	path := filepath.Join(k.t.TempDir(), file)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		return "", err
	}
	cmd := exec.CommandContext(k.t.Context(), program, append(args[1:], path)...)
	cmd.Dir = filepath.Dir(path)
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%s: %w: %s", args[0], err, out)
	}
	return "read by " + filepath.Base(args[0]), nil
}

// goCode reads Go as gofmt does: a file, declarations or statements.
func goCode(code string) (string, error) {
	formatted, err := format.Source([]byte(code))
	if err != nil {
		return "", err
	}
	if string(formatted) != code {
		return "", fmt.Errorf("gofmt writes\n%s", formatted)
	}
	return "formatted by gofmt", nil
}

// TestCheckersRefuse: what a program does not take is refused.
func TestCheckersRefuse(t *testing.T) {
	turn.Wait(t)
	k := checker{t: t, nginx: peertest.Path(t, "nginx")}
	for lang, code := range map[string]string{
		"go": "x := (", "ini": "[mysqld]\nmax_connektions = 5", "nginx": "http {\n    proxy_cache nowhere;\n    nosuch on;\n}",
		"vcl": "sub vcl_recv { unset req.nothing; }", "ruby": "def (", "php": "$a = ;", "python": "a = (", "javascript": "const = 1",
		"yaml": "a: [", "sh": "if", "properties": "novalue", "java": "int x = ;", "": "interpolateParam=true",
	} {
		said, err := k.check(fix{Fix: kasoku.Fix{Lang: lang, Code: code}})
		if err == nil && !strings.Contains(said, "not checked: no") {
			t.Errorf("%s: %s: %s", lang, code, said)
		}
	}
	for _, code := range []string{"[Service]\nLimitNOFIL=5", "[www]\npm = static\npm.max_childs = 2"} {
		if said, err := k.check(fix{Fix: kasoku.Fix{Lang: "ini", Code: code}}); err == nil && !strings.Contains(said, "not checked: no") {
			t.Errorf("%s: %s", code, said)
		}
	}
}
