package load

import (
	"fmt"
	"testing"
)

func TestFillFrom(t *testing.T) {
	f, err := NewFill(FillOptions{URL: "http://a/{{seq}}/{{uuid}}", Header: map[string][]string{"X-Id": {"{{hex 8}}"}}, Body: []byte("n={{int 1 9}}"), Seed: 3})
	if err != nil {
		t.Fatal(err)
	}
	text := func(f *Fill, n uint64) string {
		return fmt.Sprintf("%s %s %s", f.URL.Append(nil, n), f.Header[0].Value.Append(nil, n), f.Body.Append(nil, n))
	}
	g := f.From(100).From(7)
	for n := range uint64(20) {
		if got, want := text(g, n), text(f, n+107); got != want {
			t.Fatalf("request %d: %s, want %s", n, got, want)
		}
	}
	if none := (*Fill)(nil); none.From(3) != nil || f.From(0) != f {
		t.Error("what needs no change is changed")
	}
}
