package record

import (
	"strings"
	"testing"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/checkpoint/capture"
)

func TestLevelNote(t *testing.T) {
	f := func(text, want string) {
		t.Helper()
		configs := []kasoku.Config{{Kind: capture.KindVCL, Text: "error_log /e/error.log crit;"}, {Kind: capture.KindNginx, Name: "/etc/nginx/nginx.conf", Text: text}}
		got := levelNote(configs, "/e/error.log")
		if want == "" && got != "" || !strings.HasPrefix(got, want) {
			t.Errorf("%s\ngot  %q\nwant %q", text, got, want)
		}
	}
	f("error_log /e/error.log;", "nginx writes no warnings to /e/error.log: its level is error; error_log /e/error.log warn; has them")
	f("error_log error.log error;", "nginx writes no warnings")
	f("error_log /e/error.log crit;", "nginx writes neither warnings nor all errors")
	f("error_log /e/error.log warn;", "")
	f("error_log /e/error.log; http { error_log /e/error.log notice; }", "")
	f("error_log /var/log/other.log;", "")
	f("error_log stderr;", "")
	f("error_log /e/error.log $x;", "")
	f("http {", "")
}
