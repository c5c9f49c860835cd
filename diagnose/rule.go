package diagnose

import (
	"strings"

	"github.com/kasoku/kasoku"
)

// A Rule looks at one case and names one kind of cause.
type Rule interface {
	// ID returns the rule's id in the catalogue, such as POOL-01.
	ID() string
	// Doc describes the rule.
	Doc() Doc
	// Check returns what the rule found, or why it found nothing. A rule that
	// returns no finding returns at least one silence. It must not change the
	// case.
	Check(c *Case) ([]kasoku.Finding, []kasoku.Silence)
}

// A Doc describes a rule to those who read its findings. Each text is one paragraph;
// how its lines are broken means nothing.
type Doc struct {
	// Summary continues a sentence that begins with the rule's id: "finds …", "says
	// that …".
	Summary string
	// Evidence is what must hold for the rule to speak, with its thresholds.
	Evidence string
	// Cause is why that makes a service slow, or a measurement wrong.
	Cause string
	// Fix is what to do about it.
	Fix string
	// Silent is when the rule says nothing, and when it is blind.
	Silent string
	// Host is what of the host its findings rest on: what programs outside of the service
	// have of that is stated with each.
	Host []Pressure
	// Points means that a finding is a sign to where the time goes. It becomes a remark where
	// another one has what to change there. As a remark it comes after those that have.
	Points bool
	// Warns means that its findings are about answers that become wrong, not about time: as a
	// remark one comes before those that cost little.
	Warns bool
}

// docWidth is the longest line of a description, in bytes.
const docWidth = 84

// String returns the four parts with their labels, a paragraph each.
func (d Doc) String() string {
	var b strings.Builder
	for _, part := range [][2]string{{"Evidence", d.Evidence}, {"Cause", d.Cause}, {"Fix", d.Fix}, {"Silent", d.Silent}} {
		at := len(part[0]) + 1
		b.WriteString(part[0] + ":")
		for _, word := range strings.Fields(part[1]) {
			if at+1+len(word) > docWidth {
				b.WriteString("\n" + word)
				at = len(word)
				continue
			}
			b.WriteString(" " + word)
			at += 1 + len(word)
		}
		b.WriteString("\n")
	}
	return b.String()
}

// Line returns the summary on one line.
func (d Doc) Line() string { return strings.Join(strings.Fields(d.Summary), " ") }
