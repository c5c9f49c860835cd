package scenario

import (
	"fmt"
	"strings"
	"testing"
)

// TestAnswerNumbers: only plain numbers at the top of an object are kept, whatever a service sends.
func TestAnswerNumbers(t *testing.T) {
	many := &strings.Builder{}
	for i := range 40 {
		fmt.Fprintf(many, `,"n%02d":%d`, i, i)
	}
	const first = "[{n00 0} {n01 1} {n02 2} {n03 3} {n04 4} {n05 5} {n06 6} {n07 7}]"
	for body, want := range map[string]string{
		`{"available_days":10,"language":"go"}`:                               "[{available_days 10}]",
		`{"language":"go"}`:                                                   "[]",
		`{"campaign": 0, "rate": -1.50}`:                                      "[{campaign 0} {rate -1.50}]",
		`{"language":"go","benchmark_server":{"host":"a","port":50051}}`:      "[]",
		`{"a b":1,"c\u001b[31m":2,"d":1e9,"e":"7","f":[1],"g":null,"h":true}`: "[]",
		`{"` + strings.Repeat("x", 41) + `":1}`:                               "[]",
		`{"n":12345678901234567}`:                                             "[]",
		`[1,2]`:                                                               "[]",
		`7`:                                                                   "[]",
		``:                                                                    "[]",
		`{"a":1`:                                                              "[]",
		`{"a":1,"pad":"` + strings.Repeat(" ", maxAnswerBytes) + `"}`: "[]",
		`{` + many.String()[1:] + `}`:                                 first,
	} {
		if got := fmt.Sprint(answerNumbers([]byte(body))); got != want {
			t.Errorf("%.60s: %s, want %s", body, got, want)
		}
	}
}
