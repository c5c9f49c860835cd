package recorded

import (
	"testing"
)

func TestProgramOf(t *testing.T) {
	for instance, want := range map[string]string{
		"": "|", "db": "|db", "my db": "|my db", "127.0.0.1:6060 db": "127.0.0.1:6060|db", "127.0.0.1:6060": "127.0.0.1:6060|", "[::1]:80 a.b c": "[::1]:80|a.b c",
		"a:b c": "|a:b c", ":80 x": "|:80 x",
	} {
		if program, place := programOf(instance); program+"|"+place != want {
			t.Errorf("%q: %q and %q", instance, program, place)
		}
	}
}
