package nginxconf_test

import (
	"os"
	"strings"
	"testing"

	"github.com/kasoku/kasoku/internal/nginxconf"
)

// TestLogFormatDocumented: what the documents say to paste is the one text.
func TestLogFormatDocumented(t *testing.T) {
	for _, name := range []string{"../../docs/accesslog.md", "../../docs/ja/accesslog.md"} {
		page, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(page), nginxconf.LogFormat) {
			t.Errorf("%s does not have %s", name, nginxconf.LogFormat)
		}
	}
	config, err := nginxconf.Parse(nginxconf.LogFormat, "log format")
	if err != nil || len(config) != 1 || config[0].Words[1] != nginxconf.LogFormatName {
		t.Errorf("it is read as %v, %v", config, err)
	}
}
