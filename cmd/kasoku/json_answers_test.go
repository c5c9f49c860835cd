package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/kasoku/kasoku/cmd/kasoku/internal/cli"
	"github.com/kasoku/kasoku/cmd/kasoku/internal/doctorcmd"
	"github.com/kasoku/kasoku/cmd/kasoku/internal/fleetcmd"
	"github.com/kasoku/kasoku/cmd/kasoku/internal/labcmd"
	"github.com/kasoku/kasoku/cmd/kasoku/internal/provecmd"
	"github.com/kasoku/kasoku/cmd/kasoku/internal/restorecmd"
	"github.com/kasoku/kasoku/cmd/kasoku/internal/showcmd"
	"github.com/kasoku/kasoku/internal/test/golden"
	"github.com/kasoku/kasoku/prove/finalize"
	"github.com/kasoku/kasoku/report/encode"
)

// answers are the types of what -o json writes, one for each kind.
var answers = []reflect.Type{
	reflect.TypeFor[encode.Run](), reflect.TypeFor[encode.Part](), reflect.TypeFor[encode.Parts](),
	reflect.TypeFor[encode.Comparison](), reflect.TypeFor[encode.List](),
	reflect.TypeFor[encode.AccessLog](), reflect.TypeFor[encode.AccessDiff](),
	reflect.TypeFor[encode.SlowLog](), reflect.TypeFor[encode.SlowDiff](),
	reflect.TypeFor[encode.Attack](), reflect.TypeFor[encode.Carbon](), reflect.TypeFor[encode.Probe](),
	reflect.TypeFor[encode.Plans](), reflect.TypeFor[encode.DigestFile](), reflect.TypeFor[encode.ProfilesTaken](),
	reflect.TypeFor[doctorcmd.Examination](), reflect.TypeFor[doctorcmd.Advised](),
	reflect.TypeFor[provecmd.Trial](), reflect.TypeFor[provecmd.AnswersRecorded](),
	reflect.TypeFor[provecmd.AnswersChecked](), reflect.TypeFor[labcmd.Autopilot](),
	reflect.TypeFor[finalize.Checklist](), reflect.TypeFor[restorecmd.Reverted](),
	reflect.TypeFor[fleetcmd.Members](), reflect.TypeFor[fleetcmd.FleetExamination](),
	reflect.TypeFor[showcmd.Split](), reflect.TypeFor[showcmd.SplitEdits](),
	reflect.TypeFor[labcmd.LabStory](), reflect.TypeFor[labcmd.LabRun](),
}

// listed are those of which a list is written, without schema and kind.
var listed = []reflect.Type{reflect.TypeFor[labcmd.LabRun]()}

// jsonPage is where what fields mean is said.
const jsonPage = "../../docs/json.md"

// TestJSONPage: the tables of docs/json.md have each field of the answers in the order in which it is written, with its
// type; what it means is said there. -update writes names and types anew.
func TestJSONPage(t *testing.T) {
	text, err := os.ReadFile(jsonPage)
	if err != nil {
		t.Fatal(err)
	}
	page := newFieldPage(string(text))
	for _, x := range answers {
		page.put(x)
	}
	for _, problem := range page.problems {
		t.Error(problem)
	}
	golden.Check(t, jsonPage, []byte(strings.TrimRight(page.text, "\n")+"\n"))
}

// TestJSONSchema: the schema is that of the types.
func TestJSONSchema(t *testing.T) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", " ")
	if err := enc.Encode(drawSchema(t, false)); err != nil {
		t.Fatal(err)
	}
	golden.Check(t, "../../docs/schema.json", b.Bytes())
}

// TestJSONSchema_Outputs: what reports write is as the schema says, and has no other field.
func TestJSONSchema_Outputs(t *testing.T) {
	s := compileSchema(t)
	files, err := filepath.Glob("../../report/*/testdata/*.json.golden")
	if err != nil || len(files) < 9 {
		t.Fatalf("%d outputs, %v", len(files), err)
	}
	seen := map[string]bool{}
	for _, path := range files {
		content, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		kind, err := s.check(content)
		if err != nil {
			t.Errorf("%s: %v", path, err)
		}
		seen[kind] = true
		more := bytes.Replace(content, []byte("{"), []byte(`{"not_a_field": 1,`), 1)
		if _, err := s.check(more); err == nil {
			t.Errorf("%s: a field that is none is taken", path)
		}
	}
	for _, kind := range []string{"run", "compare", "attack", "slowlog"} {
		if !seen[kind] {
			t.Errorf("no output of kind %q was held to its schema", kind)
		}
	}
}

// schemas are those of the answers, by kind; an answer without one is held to that of the lists.
type schemas map[string]*jsonschema.Schema

// compileSchema compiles the schema that takes no field that is not in it.
func compileSchema(t *testing.T) schemas {
	t.Helper()
	s, err := readSchemas(strictSchema(t))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// strictSchema is the schema of all answers as JSON, which takes no field that is not in it.
func strictSchema(t *testing.T) []byte {
	t.Helper()
	b, err := json.Marshal(drawSchema(t, true))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// readSchemas compiles what strictSchema has drawn.
func readSchemas(text []byte) (schemas, error) {
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		return nil, err
	}
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	if err := c.AddResource("kasoku.json", doc); err != nil {
		return nil, err
	}
	out := schemas{}
	for i, root := range doc.(object)["anyOf"].([]any) {
		s, err := c.Compile(fmt.Sprintf("kasoku.json#/anyOf/%d", i))
		if err != nil {
			return nil, err
		}
		name, ok := strings.CutPrefix(fmt.Sprint(root.(object)["$ref"]), "#/$defs/")
		if !ok {
			out[""] = s
			continue
		}
		kind := doc.(object)["$defs"].(object)[name].(object)["properties"].(object)["kind"].(object)["const"]
		out[kind.(string)] = s
	}
	return out, nil
}

// check holds an answer to the schema of its kind.
func (s schemas) check(content []byte) (kind string, err error) {
	answer, err := jsonschema.UnmarshalJSON(bytes.NewReader(content))
	if err != nil {
		return "", err
	}
	if fields, ok := answer.(object); ok {
		kind = fmt.Sprint(fields["kind"])
	}
	if s[kind] == nil {
		return kind, fmt.Errorf("kind %q has no schema", kind)
	}
	return kind, s[kind].Validate(answer)
}

// schemaFile names the file of the schema in the environment of programs that scripts start.
const schemaFile = "KASOKU_TEST_SCHEMA"

// mainHeldToSchema is kasoku; what it writes with -o json is held to the schema.
func mainHeldToSchema() {
	path := os.Getenv(schemaFile)
	if path == "" || !writesJSON(os.Args[1:]) {
		main()
		return
	}
	var out bytes.Buffer
	e := cli.NewEnv()
	e.Stdout = io.MultiWriter(e.Stdout, &out)
	code := run(e)
	if err := holdToSchema(path, out.Bytes()); err != nil {
		fmt.Fprintf(os.Stderr, "the answer is not as docs/schema.json says: %v\n", err)
		code = 70
	}
	os.Exit(code)
}

// holdToSchema checks an answer; none is as good as any.
func holdToSchema(path string, answer []byte) error {
	if len(answer) == 0 {
		return nil
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	s, err := readSchemas(text)
	if err != nil {
		return err
	}
	_, err = s.check(answer)
	return err
}

// writesJSON says whether the answer is asked for as JSON; what benchmarks of labs report is a line of its own.
func writesJSON(args []string) bool {
	if i := slices.Index(args, "--"); i >= 0 {
		args = args[:i]
	}
	text := " " + strings.Join(args, " ") + " "
	return (strings.Contains(text, " -o json ") || strings.Contains(text, " --output-format json ")) && !strings.Contains(text, " bench ")
}
