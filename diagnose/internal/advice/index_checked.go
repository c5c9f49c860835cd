package advice

import (
	"fmt"
	"strings"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/diagnose/indexes"
	"github.com/kasoku/kasoku/internal/unit"
)

// checkWords says of each index whether a server was asked, and what it answered.
func (g IndexGroup) checkWords() string {
	var words []string
	for _, p := range g.Proposals {
		text := "Not checked: the server was not asked whether it uses it; `kasoku try` does."
		switch k := p.Check; {
		case k != nil && k.Note != "":
			text = fmt.Sprintf("Not checked (%s); `kasoku try` asks the server.", k.Note)
		case k != nil:
			text = "Checked: " + g.answerWords(p) + "."
		}
		if len(g.Proposals) > 1 && p.Check != nil {
			text = p.Name + ": " + text
		}
		if len(words) == 0 || words[len(words)-1] != text {
			words = append(words, text)
		}
	}
	return strings.Join(words, " ")
}

// answerWords are what a private server said: "1,715 → 21 rows, MariaDB 10.11.19 uses it for
// all 3 classes, asked with a copy of all its rows".
func (g IndexGroup) answerWords(p *indexes.Proposal) string {
	k := p.Check
	asked, helps, open := 0, 0, 0
	var top *kasoku.CheckedClass
	for i := range k.Classes {
		c := &k.Classes[i]
		if c.Note != "" {
			open++
			continue
		}
		asked++
		if c.Helps {
			helps++
		}
	}
	for _, s := range p.Serves { // the one that saves most, of those that were asked
		if c := k.Class(s.QueryID); c != nil && c.Helps && top == nil {
			top = c
		}
	}
	text := ""
	if top != nil {
		text = fmt.Sprintf("%s → %s rows, ", unit.Count(top.Before), unit.Count(top.After))
	}
	text += fmt.Sprintf("%s uses it for %d of %s", k.Server, helps, unit.Counted(asked, "class", "classes"))
	if open > 0 {
		text += fmt.Sprintf(" (%d could not be asked)", open)
	}
	of := "all rows"
	if !k.Whole {
		of = fmt.Sprintf("%s of about %s rows", unit.Count(k.Rows), unit.Count(g.def.Rows))
	}
	return text + ", asked with a copy of " + of
}
