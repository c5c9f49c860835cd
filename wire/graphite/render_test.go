package graphite

import (
	"fmt"
	"testing"
)

func TestParseRender(t *testing.T) {
	f := func(body, want string) {
		t.Helper()
		got, err := ParseRender([]byte(body))
		text := fmt.Sprint(got)
		if err != nil {
			text = "error"
		}
		if text != want {
			t.Errorf("%s: %s, want %s: %v", body, text, want, err)
		}
	}
	f(`[]`, "[]")
	f(`[{"target": "a.b", "datapoints": [[0.5, 60], [null, 120], [2, 180]]}, {"target": "c", "datapoints": []}]`, "[{a.b [{a.b 60 0.5} {a.b 180 2}]} {c []}]")
	f(`[{"target": "a", "datapoints": [[1]]}]`, "error")
	f(`[{"target": "a", "datapoints": [[1, null]]}]`, "error")
	f(`[{"target": "a", "datapoints": [[1, -1]]}]`, "error")
	f(`{"metrics": []}`, "[]")
	f(`{"metrics":[{"name":"a.b","startTime":60,"stopTime":180,"stepTime":60,"values":[0,0,7],"isAbsent":[false,true,false]}]}`, "[{a.b [{a.b 60 0} {a.b 180 7}]}]")
	f(`{"metrics":[{"name":"a.b","startTime":60,"stepTime":60,"values":[0,0],"isAbsent":[false]}]}`, "error")
	f(`{}`, "error")
	f(`{"error": "no"}`, "error")
	f(`<html>`, "error")
	f(``, "error")
}
