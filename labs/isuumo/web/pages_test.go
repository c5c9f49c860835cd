package web_test

import (
	"io/fs"
	"path"
	"regexp"
	"strings"
	"testing"

	"github.com/kasoku/kasoku/labs/isuumo/web"
)

// texts returns all files by their paths.
func texts(t *testing.T) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := fs.WalkDir(web.FS(), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := fs.ReadFile(web.FS(), name)
		out[name] = string(b)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// TestLinks: what a file asks for is there, and all that is there is asked for.
func TestLinks(t *testing.T) {
	files := texts(t)
	asked := map[string]bool{"index.html": true}
	link := regexp.MustCompile(`(?:href|src|action)="([^"#?]+)|(?:from|import) '([^']+)'|['` + "`" + `]([a-z]+\.html)`)
	for name, text := range files {
		for _, m := range link.FindAllStringSubmatch(text, -1) {
			to := m[1] + m[2] + m[3]
			switch {
			case to == "./":
				to = "index.html"
			case m[2] != "":
				to = path.Join(path.Dir(name), to)
			}
			asked[to] = true
			if _, ok := files[to]; !ok {
				t.Errorf("%s asks for %s, which is not there", name, to)
			}
		}
	}
	for name := range files {
		if !asked[name] {
			t.Errorf("nothing asks for %s", name)
		}
	}
}

// TestPages: the pages have one frame, and nothing in them can come from elsewhere
// or be read as HTML.
func TestPages(t *testing.T) {
	files := texts(t)
	frame := ""
	title := regexp.MustCompile(`<title>[^<]+</title>`)
	main := regexp.MustCompile(`(?s)<main id="main">\n.*</main>`)
	script := regexp.MustCompile(`js/[a-z]+\.js`)
	outside := regexp.MustCompile(`https?:|//[a-z]+\.`)
	markup := regexp.MustCompile(`innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\(|new Function|DOMParser|srcdoc`)
	size := 0
	for name, text := range files {
		size += len(text)
		if at := outside.FindString(strings.ReplaceAll(text, `xmlns="http://www.w3.org/2000/svg"`, "")); at != "" {
			t.Errorf("%s points elsewhere: %s", name, at)
		}
		if at := markup.FindString(text); at != "" {
			t.Errorf("%s makes HTML or code of text: %s", name, at)
		}
		if path.Ext(name) != ".html" {
			continue
		}
		for _, part := range []*regexp.Regexp{title, main, script} {
			if n := len(part.FindAllString(text, -1)); n != 1 {
				t.Errorf("%s has %d times %s", name, n, part)
			}
			text = part.ReplaceAllString(text, "")
		}
		if text = strings.ReplaceAll(text, " aria-current=page", ""); frame == "" {
			frame = text
		} else if text != frame {
			t.Errorf("%s has another frame than other pages", name)
		}
	}
	if !strings.Contains(frame, "default-src 'self'") {
		t.Error("the pages have no security policy")
	}
	if size > maxBytes {
		t.Errorf("the pages have %d bytes, want at most %d", size, maxBytes)
	}
}

// maxBytes keeps the front end small: it is to be read, and sent, in one go.
const maxBytes = 60_000
