package bounds

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// parses are the names of exported functions and methods that read what others wrote.
var parses = regexp.MustCompile(`^(?:Parse|Detect|Read|Decode|Unmarshal|Scan|New\w*Reader)\w*$`)

// root is the repository.
const root = "../../.."

// skipped are the directories whose parsers serve labs, benchmarks and tools alone; the
// commands have tests of their own.
var skipped = []string{"labs", "bench", "cmd", "tools", "internal/test"}

// A survey is what the source says about parsers.
type survey struct {
	parsers map[string][]string // by directory: the exported functions that parse, methods as Type.Method
	fuzzed  map[string]bool     // directories with a fuzz target
}

func surveySource(t *testing.T) survey {
	t.Helper()
	s := survey{map[string][]string{}, map[string]bool{}}
	files := os.DirFS(root)
	err := fs.WalkDir(files, ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir():
			top, below, _ := strings.Cut(name, "/")
			if slices.Contains(skipped, top) || slices.Contains(skipped, top+"/"+below) || name != "." && strings.HasPrefix(d.Name(), ".") || d.Name() == "testdata" {
				return fs.SkipDir
			}
			return nil
		case path.Ext(name) != ".go":
			return nil
		}
		text, err := fs.ReadFile(files, name)
		if err != nil {
			return err
		}
		return s.add(name, text)
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(s.parsers) < 20 {
		t.Fatalf("only %d packages with parsers were found", len(s.parsers))
	}
	return s
}

// add surveys a file.
func (s survey) add(name string, text []byte) error {
	f, err := parser.ParseFile(token.NewFileSet(), name, text, parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	dir := path.Dir(name)
	for _, decl := range f.Decls {
		switch fn, ok := decl.(*ast.FuncDecl); {
		case !ok:
		case strings.HasSuffix(name, "_test.go"):
			s.fuzzed[dir] = s.fuzzed[dir] || strings.HasPrefix(fn.Name.Name, "Fuzz")
		case parses.MatchString(fn.Name.Name):
			s.parsers[dir] = append(s.parsers[dir], receiver(fn)+fn.Name.Name)
		}
	}
	return nil
}

// receiver returns "Type." of a method.
func receiver(fn *ast.FuncDecl) string {
	if fn.Recv == nil {
		return ""
	}
	kind := fn.Recv.List[0].Type
	if star, ok := kind.(*ast.StarExpr); ok {
		kind = star.X
	}
	if id, ok := kind.(*ast.Ident); ok {
		return id.Name + "."
	}
	return ""
}

// Each package with an exported parser has a fuzz target, whose seeds every run of the
// tests replays.
func TestParsersAreFuzzed(t *testing.T) {
	t.Parallel()
	s := surveySource(t)
	for dir, names := range s.parsers {
		if !s.fuzzed[dir] {
			t.Errorf("%s: %q read what others wrote, and no fuzz target is there", dir, names)
		}
	}
}

// Each exported parser is in the table of bounds, or has a reason why not.
func TestParsersAreBounded(t *testing.T) {
	t.Parallel()
	covered := map[string]bool{}
	for _, r := range rows {
		for _, name := range r.covers {
			covered[name] = true
		}
	}
	for dir, names := range surveySource(t).parsers {
		for _, name := range names {
			key := dir + " " + name
			if _, ok := unbounded[key]; !ok && !covered[key] {
				t.Errorf("%s reads what others wrote, and is in no row of the table", key)
			}
			delete(covered, key)
		}
	}
	for key := range covered {
		t.Errorf("%s is in the table, and no such parser is left", key)
	}
}

// unbounded are the exported functions named like parsers that are in no row, and why.
var unbounded = map[string]string{
	"diagnose/settings Read":               "asks a server; what it reads with is package mysql",
	"checkpoint/capture ReadFile":          "reads a file of bounded size as it is; Mask has rows",
	"internal/command pipeReader.Read":     "passes bytes on",
	"diagnose/indexes Advice.Reads":        "returns what is there",
	"logs Coder.Reads":                     "returns what is there",
	"diagnose/indexes ParseStatement":      "texts of at most 64 KB, by the SQL grammar",
	"diagnose/internal/extract Parse":      "reads recorded cases of the tests",
	"diagnose/internal/extract ParseGroup": "reads recorded cases of the tests",
	"fleet Second.Decode":                  "one of an answer, of at most MaxAnswer",
	"fleet/relay ParseOptions":             "what kasoku passes to its own program",
	"fleet/relay ParseRecorder":            "what kasoku-hub passes to its own program",
	"fleet/relay ParseReader":              "what kasoku-hub passes to its own program; the question in it is held by fleet.LogsQuestion.Check",
	"fleet ParseTicket":                    "a line that the caller types, by one pattern",
	"fleet ParseLimit":                     "a flag that the caller types",
	"load/vegeta AttackOptions.ReadPlan":   "reads with ReadTargets, which has a row",
	"topology ReadNginx":                   "nginxconf with the rights of a process",
	"internal/mounts Read":                 "Parse of a file of the kernel's, of bounded size",
	"internal/mounts ReadOpen":             "the descriptors of one process, of bounded number",
	"internal/foreign Process.Read":        "reads a file of bounded size as it is",
	"internal/foreign Process.ReadFile":    "reads a file of bounded size as it is",
	"internal/foreign ReadExe":             "hands a file of bounded size on",
	"internal/foreign ReadMapped":          "hands a file of bounded size on",
	"internal/foreign ReadOwn":             "hands a file of bounded size on",
	"internal/pathwalk looked.ReadDir":     "names of a directory, which the kernel gives",
	"logs/lines plainReader.Read":          "passes bytes on",
	"logs/lines rawReader.Read":            "passes bytes on",
	"wire/mackerel/program Flags.Parse":    "reads the arguments of the caller",
	"wire/mackerel/program ReadFile":       "reads a file of bounded size as it is",
	"mysqlflags QueryMap.Scan":             "one column of a row",
	"internal/procstat Read":               "reads one line of the kernel",
	"config ParseLink":                     "one value of a kasoku.toml, whose size is bounded",
	"internal/procstat ReadHost":           "reads the counters of cores, some lines of the kernel",
	"internal/procstat ReadFile":           "gives the bytes of a file of procfs as they are",
	"internal/procstat Parse":              "one line of the kernel, of some hundred bytes",
	"mysqlflags ReadDSN":                   "ParseOptions of files",
	"mysqlflags ReadDefaults":              "ParseOptions of files",
	"mysqlflags meteredConn.Read":          "passes bytes on",
	"mysql Reader.ReadStatus":              "asks a server, whose answers mysqlflags meters",
	"internal/nginxconf Read":              "Parse of files, whose number and size are bounded",
	"internal/nginxconf ReadFrom":          "Parse of files, whose number and size are bounded",
	"wire/whisper Lasting":                 "reads a number and a unit",
	"wire/whisper NewestSlots":             "reads so many slots at most",
	"wire/whisper Read":                    "reads a file whose header is checked against its size",
}
