package rowjson

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/kasoku/kasoku/labs/isuumo/model"
	"pgregory.net/rapid"
)

const goodChair = `{"id":1,"name":"椅子","description":"d","thumbnail":"t","price":1000,"height":50,"width":60,"depth":70,"color":"黒","features":"","kind":"座椅子"}`

func TestChair_Failure(t *testing.T) {
	f := func(old, with, want string) {
		t.Helper()
		raw := strings.Replace(goodChair, old, with, 1)
		if c, err := Chair([]byte(raw)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Chair(%q) = %v, %v; want %q", raw, c, err, want)
		}
	}
	f(`"price":1000`, `"price":1000.0`, `price is "1000.0,`)
	f(`"price":1000`, `"price":1e3`, `price is "1e3,`)
	f(`"price":1000`, `"price":"1000"`, `price is "\"1000\",`)
	f(`"price":1000`, `"price":null`, `price is "null,`)
	f(`"price":1000`, `"price":[1000]`, `price is "[1000],`)
	f(`"price":1000`, `"price":99999999999999999999`, "want a whole number")
	f(`"price":1000`, `"price":01000`, "want a whole number")
	f(`"price":1000`, `"price":`, "want a whole number")
	f(`"features":""`, `"features":null`, `features is "null,`)
	f(`"features":""`, `"features":[]`, `features is "[],`)
	f(`"features":""`, "\"features\":\"\n\"", "want a text")
	f(`"features":""`, `"features":"\x"`, "want a text")
	f(`"features":"",`, ``, `without the key "features"`)
	f(`"features":""`, `"features":"","features":""`, `the key "features" twice`)
	f(`"features":"",`, `"features":"",,`, `instead of '"'`)
	f(`"features":"",`, `"features":""`, `instead of '}'`)
	f(`"id":1`, `"ID":1`, `the key "ID"`)
	f(`"id":1`, `"id":1,"popularity":5`, `the key "popularity", which the API does not have there`)
	f(`"id":1`, `"id":1,"stock":5`, `the key "stock"`)
	f("黒", "\xe9", "no UTF-8")
	f(goodChair, `[]`, "instead of '{'")
	f(goodChair, ``, "ends early")
	f(goodChair, goodChair+goodChair, "after the end")
	f(goodChair, goodChair[:len(goodChair)-1], "ends early")
}

// TestRows: what encoding/json writes of a row is read as that row.
func TestRows(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		chair := rapid.Make[model.Chair]().Draw(t, "chair")
		raw, err := json.Marshal(chair)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := Chair(raw); err != nil || got != chair {
			t.Fatalf("Chair(%s) = %+v, %v", raw, got, err)
		}
		estate := rapid.Make[model.Estate]().Draw(t, "estate")
		raw, err = json.Marshal(estate)
		if err != nil {
			t.Skip("a number that JSON does not have")
		}
		if got, err := Estate(raw); err != nil || got != estate {
			t.Fatalf("Estate(%s) = %+v, %v", raw, got, err)
		}
	})
}

// FuzzChair: what is taken is valid JSON, and the same for encoding/json.
func FuzzChair(f *testing.F) {
	f.Add([]byte(goodChair))
	f.Add([]byte(strings.ReplaceAll(goodChair, ",", " ,\n ")))
	f.Add([]byte(strings.Replace(goodChair, "name", `n\u0061me`, 1)))
	f.Fuzz(func(t *testing.T, raw []byte) {
		got, err := Chair(raw)
		if err != nil {
			return
		}
		var want model.Chair
		if err := json.Unmarshal(raw, &want); err != nil || got != want {
			t.Fatalf("Chair(%q) = %+v; encoding/json: %+v, %v", raw, got, want, err)
		}
	})
}

func BenchmarkChair(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Chair([]byte(goodChair)); err != nil {
			b.Fatal(err)
		}
	}
}

func TestLanguage(t *testing.T) {
	if l, err := Language([]byte("{\"language\": \"go\", \"n\": 1}\n")); err != nil || l != "go" {
		t.Errorf("Language = %q, %v", l, err)
	}
	for _, bad := range []string{"", "{}", `{"language":""}`, `{"language":1}`, "go"} {
		if l, err := Language([]byte(bad)); err == nil {
			t.Errorf("Language(%q) = %q", bad, l)
		}
	}
}
