package rowjson

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestSplit(t *testing.T) {
	f := func(body string, count int64, rows ...string) {
		t.Helper()
		var l List
		if err := l.Split([]byte(body), "chairs", true); err != nil {
			t.Errorf("Split(%q): %v", body, err)
			return
		}
		got := []string{}
		for _, r := range l.Rows {
			got = append(got, string(r))
		}
		if l.Count != count || strings.Join(got, "|") != strings.Join(rows, "|") {
			t.Errorf("Split(%q) = %d, %q; want %d, %q", body, l.Count, got, count, rows)
		}
	}
	f(`{"count":0,"chairs":[]}`, 0)
	f(" {\n \"chairs\" : [ { \"id\" : 1 } ,\t{} ] , \"count\" : 12 }\r\n", 12, `{ "id" : 1 }`, `{}`)
	f(`{"c\u006funt":3,"chairs":[{"a":"}]\\\"","b":{"c":[{}]}},{"d":"\\\\"}]}`, 3, `{"a":"}]\\\"","b":{"c":[{}]}}`, `{"d":"\\\\"}`)
}

func TestSplit_Failure(t *testing.T) {
	f := func(body, want string) {
		t.Helper()
		var l List
		if err := l.Split([]byte(body), "chairs", true); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Split(%q): %v; want %q", body, err, want)
		}
	}
	f(``, "ends early")
	f(`null`, "\"null\" instead of '{'")
	f(`[]`, "instead of '{'")
	f(`{`, "ends early")
	f(`{"count":1`, "ends early")
	f(`{"count":1,`, "ends early")
	f(`{"count":1,"chairs":[{"a":"`, "ends early")
	f(`{"count":1,"chairs":[{}`, "ends early")
	f(`{"count":1,"chairs":null}`, "instead of '['")
	f(`{"count":1,"chairs":[1]}`, "instead of '{'")
	f(`{"count":1,"chairs":[{},]}`, "instead of '{'")
	f(`{"count":1,"chairs":[{} {}]}`, "instead of ']'")
	f(`{"count":1.0,"chairs":[]}`, `"1.0,\"chairs\":[]}" is no count`)
	f(`{"count":-1,"chairs":[]}`, "is no count")
	f(`{"count":01,"chairs":[]}`, "is no count")
	f(`{"count":"1","chairs":[]}`, "is no count")
	f(`{"count":1,"chairs":[],}`, `instead of '"'`)
	f(`{"count":1,"count":1,"chairs":[]}`, `the key "count" twice`)
	f(`{"count":1,"chairs":[],"chairs":[]}`, `the key "chairs" twice`)
	f(`{"count":1,"chairs":[],"page":0}`, `the key "page", which the API does not have there`)
	f(`{"Count":1,"chairs":[]}`, `the key "Count"`)
	f(`{"chairs":[]}`, `no key "count"`)
	f(`{"count":1}`, `no key "chairs"`)
	f(`{"count":1,"chairs":[]}x`, "1 bytes after the end")
	f("{\"count\":1,\"chairs\":[]}\x00", "1 bytes after the end")

	var l List
	if err := l.Split([]byte(`{"count":1,"chairs":[]}`), "chairs", false); err == nil {
		t.Error("a count that the API does not have was taken")
	}
}

func TestObject(t *testing.T) {
	if row, err := Object([]byte(" {\"a\":\"}\"}\n")); err != nil || string(row) != `{"a":"}"}` {
		t.Errorf("Object = %q, %v", row, err)
	}
	for _, bad := range []string{"", "[]", `{"a":1`, `{} {}`, "{}\x00"} {
		if row, err := Object([]byte(bad)); err == nil {
			t.Errorf("Object(%q) = %q", bad, row)
		}
	}
}

// splitSlowly is what Split has to do, by encoding/json.
func splitSlowly(body []byte, name string) (count int64, rows []json.RawMessage, ok bool) {
	if !json.Valid(body) {
		return 0, nil, false
	}
	d := json.NewDecoder(bytes.NewReader(body))
	if start, _ := d.Token(); start != json.Delim('{') {
		return 0, nil, false
	}
	values := map[string]json.RawMessage{}
	keys := 0
	for ; d.More(); keys++ {
		key, _ := d.Token()
		var value json.RawMessage
		if err := d.Decode(&value); err != nil {
			return 0, nil, false
		}
		values[key.(string)] = value
	}
	if keys != 2 || values["count"] == nil || values[name] == nil {
		return 0, nil, false
	}
	count, err := strconv.ParseInt(string(values["count"]), 10, 64)
	if err != nil || count < 0 || values[name][0] != '[' || json.Unmarshal(values[name], &rows) != nil {
		return 0, nil, false
	}
	for _, row := range rows {
		if row[0] != '{' {
			return 0, nil, false
		}
	}
	return count, rows, true
}

func FuzzSplit(f *testing.F) {
	for _, seed := range []string{
		`{"count":2,"chairs":[{"id":1,"name":"a\"b"},{"id":2,"x":[1,{"y":null}]}]}`,
		" {\"chairs\":[ ] ,\n\"count\":0}\n",
		`{"count":1,"chairs":[{"a":"\\"}]}`,
		`{"count":1,"chairs":[{"a":[}]}]}`,
		`{"count":1e2,"chairs":[]}`,
		"{\"count\":1,\"chairs\":[{\"\xff\":\"\\ud800\"}]}",
		`{"\u0063ount":1,"chairs":[{}]}`,
		`{"count":1,"chairs":[{}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		var l List
		err := l.Split(body, "chairs", true)
		for _, row := range l.Rows {
			if err == nil && !json.Valid(row) {
				err = errTruncated // it will be seen when the row is decoded
			}
		}
		count, rows, ok := splitSlowly(body, "chairs")
		if ok != (err == nil) {
			t.Fatalf("Split: %v; encoding/json: %v", err, ok)
		}
		if !ok {
			return
		}
		if l.Count != count || len(l.Rows) != len(rows) {
			t.Fatalf("Split: %d, %q; encoding/json: %d, %q", l.Count, l.Rows, count, rows)
		}
		for i := range rows {
			if !bytes.Equal(l.Rows[i], rows[i]) {
				t.Fatalf("row %d: %q, encoding/json: %q", i, l.Rows[i], rows[i])
			}
		}
	})
}

// TestSplitEqualsJSON: what encoding/json writes, with any text in it and with or
// without indents, is cut into the same rows.
func TestSplitEqualsJSON(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rows := rapid.SliceOfN(rapid.MapOf(rapid.String(), rapid.String()), 0, 5).Draw(t, "rows")
		if rows == nil {
			rows = []map[string]string{}
		}
		body, err := json.Marshal(map[string]any{"count": len(rows), "estates": rows})
		if err != nil {
			t.Fatal(err)
		}
		if rapid.Bool().Draw(t, "indented") {
			var b bytes.Buffer
			if err := json.Indent(&b, body, "", "  "); err != nil {
				t.Fatal(err)
			}
			body = b.Bytes()
		}
		var l List
		if err := l.Split(body, "estates", true); err != nil {
			t.Fatalf("%s: %v", body, err)
		}
		_, want, _ := splitSlowly(body, "estates")
		if len(l.Rows) != len(want) || l.Count != int64(len(rows)) {
			t.Fatalf("%s: %q", body, l.Rows)
		}
		for i := range want {
			if !bytes.Equal(l.Rows[i], want[i]) {
				t.Fatalf("row %d is %q, want %q", i, l.Rows[i], want[i])
			}
		}
		if cut := rapid.IntRange(0, len(body)-1).Draw(t, "cut"); l.Split(bytes.TrimSpace(body)[:cut], "estates", true) == nil {
			t.Fatalf("a truncated answer was taken: %s", body[:cut])
		}
	})
}
