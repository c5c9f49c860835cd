package host

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/diagnose"
	"github.com/kasoku/kasoku/diagnose/internal/wording"
	"github.com/kasoku/kasoku/internal/lazyregexp"
	"github.com/kasoku/kasoku/internal/unit"
)

// parsedShare is from which part of the program's CPU on it is said that it parses, under
// load, what does not change.
const parsedShare = 0.05

// leastParsed is how much CPU a profile has to show in it, five samples at the usual 100 a second: of
// few samples one is a large part, and what is parsed once, when it is first used, may be in it.
const leastParsed = 50 * time.Millisecond

// A parsing is what programs parse once, as a rule, and some for each request.
type parsing struct {
	what      string
	fix       string
	note      string
	functions func() *regexp.Regexp // of Go programs, the only ones whose profiles a run has
}

// parsings are known by the functions of their libraries that callers name. What requests
// themselves bring, as JSON, is none.
//
// Sources: html/template, "ParseFiles"; regexp, "MustCompile"; the packages' own documents.
var parsings = []parsing{
	{"templates", "Parse templates once, where the program starts, and keep them",
		"A template can be executed by several requests at once. One that is edited on the disk shows after a restart then.",
		lazyregexp.New(`^(html|text)/template\.(\(\*Template\)\.)?(Parse\w*|escape)$|^github\.com/flosch/pongo2\S*\.FromFile$`)},
	{"regular expressions", "Compile regular expressions once, in variables of the package",
		"One that is made of what a request brings cannot be kept so; a bounded cache keeps those that come again.",
		lazyregexp.New(`^regexp\.(MustCompile|Compile|MatchString)$`)},
	{"configuration", "Read the configuration once, where the program starts",
		"What is changed in the file shows after a restart then.",
		lazyregexp.New(`^gopkg\.in/yaml\.v\d\.Unmarshal$|^github\.com/(BurntSushi/toml\.Decode\w*|pelletier/go-toml\S*\.Unmarshal|` +
			`spf13/viper\.\(\*Viper\)\.ReadInConfig|joho/godotenv\.(Load|Read))$`)},
}

// A parsed is what a profile under load shows to be parsed again and again.
type parsed struct {
	*parsing
	share    float64
	function string
	profile  *kasoku.Profile
}

// parsedAgain looks for it in the CPU profiles of a program, the most first.
func parsedAgain(c *diagnose.Case, program string) (out []parsed) {
	for i := range parsings {
		best := parsed{parsing: &parsings[i]}
		for k := range c.Profiles {
			p := &c.Profiles[k]
			if p.Kind != kasoku.ProfileCPU || p.Unit != "nanoseconds" || p.Program != "" && p.Program != program {
				continue
			}
			for _, f := range p.Functions {
				if share := p.Share(f.Cum); share > best.share && time.Duration(f.Cum) >= leastParsed && best.functions().MatchString(f.Name) {
					best.share, best.function, best.profile = min(share, 1), f.Name, p
				}
			}
		}
		if best.share >= parsedShare {
			out = append(out, best)
		}
	}
	slices.SortStableFunc(out, func(a, b parsed) int { return cmp.Compare(b.share, a.share) })
	return out
}

// addParsed puts what is parsed under load before the other fixes, with its evidence.
func addParsed(c *diagnose.Case, f *kasoku.Finding) {
	var fixes []kasoku.Fix
	for _, p := range parsedAgain(c, f.Object.Name) {
		f.Evidence = append(f.Evidence, kasoku.Evidence{Source: "profile", Text: wording.Cut(p.function, 80),
			Note: p.what + " are parsed under load", Value: unit.Percent(p.share), Number: p.share, Strong: true,
			Interval: p.profile.Interval})
		fixes = append(fixes, kasoku.Fix{Text: p.fix, Where: "what calls " + p.function, Risk: kasoku.RiskAppRestart,
			Note: fmt.Sprintf("%s of the program's CPU. %s", unit.Percent(p.share), p.note)})
	}
	f.Fixes = append(fixes, f.Fixes...)
}
