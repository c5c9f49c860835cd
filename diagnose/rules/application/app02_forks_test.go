package application

import (
	"strings"
	"testing"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/diagnose"
)

// TestForksFix: what replaces the program is in the application's language; a hash where people
// log in, a link elsewhere, and words where the language is not known.
func TestForksFix(t *testing.T) {
	f := func(language, route, want string) {
		t.Helper()
		rec := &kasoku.Recording{Service: &kasoku.Service{Members: []kasoku.Member{
			{ID: "a", Role: kasoku.RoleApplication, Sure: kasoku.High, Language: language}}}}
		var e *kasoku.Endpoint
		if route != "" {
			e = &kasoku.Endpoint{Method: "POST", Route: route}
		}
		got := Forks{}.fix(diagnose.NewCase(rec, nil), e, nil)
		if all := got.Text + got.Code + got.Note; !strings.Contains(all, want) || (got.Code == "") != (language == "") {
			t.Errorf("%q, %s: does not say %q: %+v", language, route, want, got)
		}
		if route == "" && got.Where != "the handler" || route != "" && !strings.HasSuffix(got.Where, route) {
			t.Errorf("%q: %s", route, got.Where)
		}
	}
	traced := func(programs ...string) kasoku.Fix {
		rec := &kasoku.Recording{Service: &kasoku.Service{Members: []kasoku.Member{
			{ID: "a", Role: kasoku.RoleApplication, Sure: kasoku.High, Language: "go"}}}}
		s := &tracedStarts{}
		for _, name := range programs {
			s.programs = append(s.programs, kasoku.TracedProgram{Name: name})
		}
		return Forks{}.fix(diagnose.NewCase(rec, nil), &kasoku.Endpoint{Method: "POST", Route: "/login"}, s)
	}
	for programs, want := range map[string]string{"sh openssl": "sha512.Sum512", "cp": "os.Link", "sh tar": "archive/zip",
		"convert": "A library", "sh": "what sh does"} {
		if got := traced(strings.Fields(programs)...); !strings.Contains(got.Text+got.Code+got.Note, want) ||
			strings.Contains(got.Note, "is not in the run") {
			t.Errorf("%s: %+v", programs, got)
		}
	}
	for language, want := range map[string][2]string{"go": {"sha512.Sum512", "os.Link"}, "php": {"hash('sha512'", "link($from"},
		"python": {"hashlib.sha512", "os.link"}, "ruby": {"Digest::SHA512", "File.link"}, "javascript": {"createHash", "fs.promises.link"},
		"java": {"MessageDigest", "Files.createLink"}, "": {"hash in the process", "A link for a copy"}} {
		f(language, "/login", want[0])
		f(language, "/users/sign-in", want[0])
		f(language, "/photos", want[1])
		f(language, "/registries/author_list", want[1])
		f(language, "", want[1])
	}
}
