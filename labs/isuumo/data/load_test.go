package data

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"testing/iotest"

	"pgregory.net/rapid"

	"github.com/kasoku/kasoku/labs/isuumo"
)

// TestEmit_Load: what Emit writes has the contest's layout, and Load reads it back, from JSON lines and from SQL,
// given either of the two directories.
func TestEmit_Load(t *testing.T) {
	dir := t.TempDir()
	if err := Emit(dir, small()); err != nil {
		t.Fatal(err)
	}
	checkLayout(t, dir)
	same := func(dir string) {
		t.Helper()
		d, err := Load(dir)
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(d, small()) {
			t.Fatalf("the data of %s differs from what was emitted", dir)
		}
	}
	initial := filepath.Join(dir, "initial-data")
	same(dir)
	same(initial)
	remove(t, filepath.Join(initial, "result", "chair_json.txt"), filepath.Join(initial, "result", "estate_json.txt"))
	same(dir)
	remove(t, filepath.Join(initial, "result", chairSQLFile), filepath.Join(initial, "result", estateSQLFile))
	same(initial) // from webapp/mysql/db
	remove(t, filepath.Join(dir, "webapp", "fixture", chairConditionFile), filepath.Join(dir, "webapp", "fixture", estateConditionFile))
	same(initial)
}

func remove(t *testing.T, files ...string) {
	t.Helper()
	for _, f := range files {
		if err := os.Remove(f); err != nil {
			t.Fatal(err)
		}
	}
}

// checkLayout holds the files against the directories and counts of the contest.
func checkLayout(t *testing.T, dir string) {
	t.Helper()
	f := func(pattern string, want int) {
		t.Helper()
		files, err := filepath.Glob(filepath.Join(dir, pattern))
		if err != nil || len(files) != want {
			t.Errorf("%s: %d files, %v; want %d", pattern, len(files), err, want)
		}
	}
	f("initial-data/result/*.sql", 2)
	f("initial-data/result/*_json.txt", 2)
	f("initial-data/result/verify_draft_*.txt", 2)
	f("initial-data/result/draft_data/chair/*.txt", 20)
	f("initial-data/result/draft_data/estate/*.txt", 20)
	f("initial-data/result/*_condition.json", 2)
	f("webapp/mysql/db/[012]_*.sql", 3)
	f("webapp/fixture/*_condition.json", 2)
	for name, want := range snapshotDirs {
		f("initial-data/result/verification_data/"+name+"/*.json", want)
	}
	b, err := os.ReadFile(filepath.Join(dir, "initial-data/result/verification_data/chair_detail/0.json"))
	if want := `{"request":{"method":"GET","resource":"/api/chair/0","query":"","body":""},"response":{"statusCode":404,"body":""}}` + "\n"; err != nil || string(b) != want {
		t.Errorf("chair_detail/0.json is %s, %v; want %s", b, err, want)
	}
}

// TestLoad_Failure: an error names the file, the line, and what was expected.
func TestLoad_Failure(t *testing.T) {
	good := t.TempDir()
	d := *small()
	d.Chairs, d.Estates, d.DraftChairs, d.DraftEstates = d.Chairs[:3], d.Estates[:3], d.DraftChairs[:2], d.DraftEstates[:2]
	if err := Emit(good, &d); err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(filepath.Join(good, "initial-data", "result", "verification_data")); err != nil { // Load does not read them
		t.Fatal(err)
	}
	f := func(file string, change func(string) string, want ...string) {
		t.Helper()
		dir := t.TempDir()
		if err := os.CopyFS(dir, os.DirFS(good)); err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(dir, file)
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasSuffix(file, ".sql") {
			remove(t, strings.Replace(filepath.Join(filepath.Dir(path), "chair_json.txt"), "webapp/mysql/db", "initial-data/result", 1))
		}
		if change == nil {
			err = os.Remove(path)
		} else {
			err = os.WriteFile(path, []byte(change(string(b))), 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
		_, err = Load(dir)
		if err == nil {
			t.Errorf("%s was taken, want an error with %q", file, want)
			return
		}
		for _, w := range append(want, path) {
			if !strings.Contains(err.Error(), w) {
				t.Errorf("error %v, want %s in it", err, w)
			}
		}
	}
	replace := func(old, new string) func(string) string {
		return func(s string) string {
			if !strings.Contains(s, old) {
				t.Fatalf("no %q in the file", old)
			}
			return strings.Replace(s, old, new, 1)
		}
	}
	whole := func(s string) func(string) string { return func(string) string { return s } }
	const rows, drafts, verify = "initial-data/result/chair_json.txt", "initial-data/result/draft_data/estate/1.txt", "initial-data/result/verify_draft_chair.txt"
	f(rows, replace(`{"id":2,`, `{"id":"2",`), "chair_json.txt:2: want one chair as a JSON object", "Chair.id")
	f(rows, replace(`{"id":2,`, `{`), `chair_json.txt:2: want one chair with the key "id"`)
	f(rows, replace(`{"id":2,`, `{"id":2,,`), "chair_json.txt:2: want one chair as a JSON object")
	f(rows, replace(`"stock"`, `"sold"`), `chair_json.txt:1: want one chair with the key "stock"`)
	f(rows, replace(`{"id":3,`, `{"id":1,`), "chair_json.txt:3: id 1 is taken by the row at", "chair_json.txt:1")
	f(rows, replace("\n", "\n"+strings.Repeat(" ", maxText)), "chair_json.txt:2: want lines below 1048576 bytes")
	f(rows, replace("チェア", "\xff"), "want UTF-8")
	f(rows, replace(`"stock":`, `"stock":3000000000`), "chair_json.txt:1: column stock: want an integer of 32 bits, have 3000000000")
	f(rows, replace(`"kind":"`, `"kind":"`+strings.Repeat("椅", 64)), "chair_json.txt:1: column kind: want at most 64 characters")
	f(rows, whole("\n\n"), "want chairs, have none")
	f(verify, nil, "want chairs")
	f(verify, replace(`{"id":2951,`, `{"id":1,`), "verify_draft_chair.txt:1: id 1 is taken by the row at", "chair_json.txt:1")
	f(drafts, replace(`"doorWidth"`, `"door_width"`), `draft_data/estate/1.txt:1: want one estate with the key "doorWidth"`)
	const condition = "webapp/fixture/chair_condition.json"
	f(condition, replace(`"prefix": "",`, `"prefix": 1,`), "chair_condition.json:3: want the choices of a search")
	f(condition, replace(`"color"`, `"colour"`), `unknown field "colour"`)
	f(condition, replace(`"max": 110`, `"max": 70`), `"width": want range 1 to end above 80, where it begins; have 70`)
	f(condition, replace(`"min": 80`, `"mim": 80`), `unknown field "mim"`)
	f(condition, replace(`"id": 0`, `"id": 5`), `"width": want range 0 to have its index as id, have 5`)
	const sql = "initial-data/result/2_DummyChairData.sql"
	f(sql, replace("(2, '", "('x', '"), `2_DummyChairData.sql:3: row 2: column id: want an integer, have "x"`)
	f(sql, replace("(2, '", "(1, '"), "2_DummyChairData.sql:3: id 1 is taken by the row at")
	f(sql, replace("(2, '", "(2, NULL, '"), `row 2: column name: want a string in UTF-8, have "NULL"`)
	f(sql, replace("),\n", ")\n"), `after row 1: want a comma or a semicolon, have "("`)
	f(sql, replace(", stock)", ")"), "2_DummyChairData.sql:1: want all the columns id, name")
	f(sql, replace(", stock)", ", store)"), `each once, have "store"`)
	f(sql, whole("INSERT INTO isuumo.chair VALUES (1, 'x"), "want the end of what is quoted since line 1")
	f(sql, whole("INSERT INTO isuumo.estate VALUES (1, 'x');"), "want chairs, have none")
	if _, err := Load(t.TempDir()); err == nil || !strings.Contains(err.Error(), "want a directory result in it") {
		t.Errorf("an empty directory: %v", err)
	}
}

// officialDump has the form of the contest's dumps: all values quoted, odd spaces,
// several statements on one line.
const officialDump = `INSERT INTO isuumo.estate (id, thumbnail, name, latitude, longitude, address, rent, door_height, door_width, popularity, description, features) VALUES ('1', '/images/estate/a.png', 'ISU''s', '35.1' , '139.25', 'x, (y)', '30000', '30', '200', '3000', 'a\'b\\c;\n', ''), ('2', 't', "n", '35' , '-1.5e1', 'a', '1', '2', '3', '4', 'd', 'f,g');INSERT INTO isuumo.estate (id, thumbnail, name, latitude, longitude, address, rent, door_height, door_width, popularity, description, features) VALUES ('3', 't', 'n', '35' , '139', 'a', '1', '2', '3', '4', 'd', 'f');`

func TestParseDump_Success(t *testing.T) {
	first := isuumo.Estate{ID: 1, Thumbnail: "/images/estate/a.png", Name: "ISU's", Latitude: 35.1, Longitude: 139.25, Address: "x, (y)", Rent: 30_000, DoorHeight: 30, DoorWidth: 200, Popularity: 3000, Description: "a'b\\c;\n"}
	second := isuumo.Estate{ID: 2, Thumbnail: "t", Name: "n", Latitude: 35, Longitude: -15, Address: "a", Rent: 1, DoorHeight: 2, DoorWidth: 3, Popularity: 4, Description: "d", Features: "f,g"}
	third := second
	third.ID, third.Longitude, third.Features = 3, 139, "f"
	f := func(dump string, want ...isuumo.Estate) {
		t.Helper()
		got, err := parseAll(estateTable(), dump)
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("parse %s:\ngot  %+v, %v\nwant %+v", dump, got, err, want)
		}
	}
	f(officialDump, first, second, third)
	f("")
	f(";;\n-- INSERT INTO estate\n# it's a comment\n/* ' */ SET NAMES 'x;y'; DROP TABLE estate")
	f("insert into `isuumo`.`estate` values (2,'n','d','t','a',35,-15,1,2,3,'f,g',4)", second)
	f("/*!40000 ALTER TABLE `estate` */;\nINSERT INTO `chair` VALUES (1);\nINSERT INTO estate VALUES (2,\"n\",'d','t','a',+35.0,-1.5e1,1,2,3,'f,g',4);\nUNLOCK TABLES;\n", second)
	f("CREATE TABLE estate (a INT DEFAULT -1); INSERT INTO chair")
}

func parseAll[T any](table *table[T], dump string) (rows []T, err error) {
	err = parseDump(strings.NewReader(dump), table, func(_ int, row T) error {
		rows = append(rows, row)
		return nil
	})
	return rows, err
}

// TestParse_ReadError: a file that cannot be read to its end is not taken for one
// that ends.
func TestParse_ReadError(t *testing.T) {
	cut := fmt.Errorf("input/output error")
	add := func(int, isuumo.Estate) error { return nil }
	for name, parse := range map[string]func() error{
		"sql":  func() error { return parseDump(broken(officialDump, cut), estateTable(), add) },
		"json": func() error { return parseLines(broken("\n\n", cut), estateTable(), add) },
	} {
		if err := parse(); err == nil || !strings.Contains(err.Error(), cut.Error()) {
			t.Errorf("%s: error %v, want %v", name, err, cut)
		}
	}
}

func broken(text string, err error) io.Reader {
	return io.MultiReader(strings.NewReader(text), iotest.ErrReader(err))
}

// FuzzParseDump: a dump gives rows or an error, and rows that were read are the
// same after they were written.
func FuzzParseDump(f *testing.F) {
	f.Add(officialDump)
	f.Add(string(appendInsert(nil, estateTable(), small().Estates[:3])))
	f.Add("INSERT INTO `isuumo`.`estate` VALUES (2,'n','d','t','a',35,-15,1,2,3,'f,g',4) -- end")
	f.Add("/* ")
	f.Add("INSERT INTO estate (id")
	f.Fuzz(func(t *testing.T, dump string) {
		rows, err := parseAll(estateTable(), dump)
		if err != nil || len(rows) == 0 {
			return
		}
		again, err := parseAll(estateTable(), string(appendInsert(nil, estateTable(), rows)))
		if err != nil || !reflect.DeepEqual(again, rows) {
			t.Fatalf("%+v became %+v, %v", rows, again, err)
		}
	})
}

// FuzzParseLines: the same for JSON lines.
func FuzzParseLines(f *testing.F) {
	var b bytes.Buffer
	if err := encodeLines(&b, small().Chairs[:3]); err != nil {
		f.Fatal(err)
	}
	f.Add(b.String())
	f.Add(`{"id":1}`)
	f.Fuzz(func(t *testing.T, text string) {
		read := func(s string) (rows []isuumo.Chair, err error) {
			err = parseLines(strings.NewReader(s), chairTable(), func(_ int, c isuumo.Chair) error {
				rows = append(rows, c)
				return nil
			})
			return rows, err
		}
		rows, err := read(text)
		if err != nil {
			return
		}
		var b bytes.Buffer
		if err := encodeLines(&b, rows); err != nil {
			t.Fatal(err)
		}
		if again, err := read(b.String()); err != nil || !reflect.DeepEqual(again, rows) {
			t.Fatalf("%+v became %+v, %v", rows, again, err)
		}
	})
}

// anyChair draws a chair with text that needs quotes and escapes.
func anyChair(t *rapid.T) isuumo.Chair {
	text := rapid.StringOf(rapid.SampledFrom([]rune("aア,\"'\\\n\r\t\x00 ;()%_")))
	var c isuumo.Chair
	for _, field := range chairTable().fields(&c) {
		switch v := field.(type) {
		case *int64:
			*v = rapid.Int64().Draw(t, "number")
		case *string:
			*v = text.Draw(t, "text")
		}
	}
	return c
}

// TestSQL_RoundTrip: rows with any text survive.
func TestSQL_RoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rows := rapid.SliceOfN(rapid.Custom(anyChair), 1, 5).Draw(t, "rows")
		dump := string(appendInsert(nil, chairTable(), rows))
		if again, err := parseAll(chairTable(), dump); err != nil || !reflect.DeepEqual(again, rows) {
			t.Fatalf("%s became %+v, %v", dump, again, err)
		}
		if lines := strings.Split(dump, "\n"); len(lines) != len(rows)+2 {
			t.Fatalf("%q: %d lines, want one a row", dump, len(lines))
		}
	})
}

// TestCSV: uploads are what encoding/csv reads.
func TestCSV(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rows := rapid.SliceOfN(rapid.Custom(anyChair), 1, 5).Draw(t, "rows")
		for i := range rows { // encoding/csv reads \r\n as \n
			for _, field := range chairTable().fields(&rows[i]) {
				if s, ok := field.(*string); ok {
					*s = strings.ReplaceAll(*s, "\r", "")
				}
			}
		}
		records, err := csv.NewReader(bytes.NewReader(ChairCSV(nil, rows))).ReadAll()
		if err != nil {
			t.Fatal(err)
		}
		for i := range rows {
			for j, field := range chairTable().fields(&rows[i]) {
				if want := fmt.Sprint(reflect.ValueOf(field).Elem()); records[i][j] != want {
					t.Fatalf("%q became %q", want, records[i][j])
				}
			}
		}
	})
	got := string(EstateCSV(nil, []isuumo.Estate{{ID: 7, Name: "n", Description: `a "b"`, Thumbnail: "t", Address: " x", Latitude: 35.5, Longitude: 139, Rent: 1, DoorHeight: 2, DoorWidth: 3, Features: "f,g", Popularity: 4}}))
	if want := `7,n,"a ""b""",t," x",35.5,139,1,2,3,"f,g",4` + "\n"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// TestConditionFiles: the files hold what the service answers, word for word.
func TestConditionFiles(t *testing.T) {
	dir := t.TempDir()
	if err := WriteService(dir, small()); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(filepath.Join(dir, "fixture", "chair_condition.json"))
	if err != nil {
		t.Fatal(err)
	}
	var c isuumo.ChairCondition
	if err := json.Unmarshal(b, &c); err != nil || !reflect.DeepEqual(c, ChairCondition()) {
		t.Errorf("%s, %v", b, err)
	}
	if n := len(c.Feature.List) + len(EstateCondition().Feature.List); n != 100 {
		t.Errorf("%d features, want 50 of each kind", n)
	}
	if got, want := fmt.Sprint(c.Price.Ranges), "[{0 -1 3000} {1 3000 6000} {2 6000 9000} {3 9000 12000} {4 12000 15000} {5 15000 -1}]"; got != want {
		t.Errorf("prices %s, want %s", got, want)
	}
}

func BenchmarkEmit(b *testing.B) {
	d, dir := full(), b.TempDir()
	for b.Loop() {
		if err := Emit(dir, d); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkLoad(b *testing.B) {
	dir := b.TempDir()
	if err := Emit(dir, full()); err != nil {
		b.Fatal(err)
	}
	load := func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := Load(dir); err != nil {
				b.Fatal(err)
			}
		}
	}
	b.Run("rows=json", load)
	for _, name := range []string{"chair_json.txt", "estate_json.txt"} {
		if err := os.Remove(filepath.Join(dir, "initial-data", "result", name)); err != nil {
			b.Fatal(err)
		}
	}
	b.Run("rows=sql", load)
}

func BenchmarkWriteImages(b *testing.B) {
	d, dir := full(), b.TempDir()
	for b.Loop() {
		if err := WriteImages(dir, d); err != nil {
			b.Fatal(err)
		}
	}
}
