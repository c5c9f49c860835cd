package profile_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/observe/profile"
)

// TestMovedTree: stacks of both sides stand in one tree, by their parts of each side's whole; runs of a side are added
// up, and a profile that was not kept leaves no tree of the others.
func TestMovedTree(t *testing.T) {
	folded := func(text string) *kasoku.Profile {
		t.Helper()
		p, err := profile.ReadFolded(text, kasoku.ProfileCPU, "nanoseconds")
		if err != nil {
			t.Fatal(err)
		}
		return &p
	}
	before := []*kasoku.Profile{folded("main.main;main.hash 20\nmain.main;main.read 10\n"), folded("main.main;main.hash 70\n")}
	after := []*kasoku.Profile{folded("main.main;main.read 1\nmain.main;main.write 2\nmain.main;main.write;main.hash 1\n")}
	root, err := profile.MovedTree(before, after)
	if err != nil {
		t.Fatal(err)
	}
	var got strings.Builder
	var walk func(n *profile.MovedNode, indent string)
	walk = func(n *profile.MovedNode, indent string) {
		for _, c := range n.Children {
			fmt.Fprintf(&got, "%s%s %.2f %.2f %+.2f\n", indent, c.Name, c.Before, c.After, c.Points())
			walk(c, indent+" ")
		}
	}
	walk(root, "")
	want := `main.main 1.00 1.00 +0.00
 main.hash 0.90 0.00 -0.90
 main.write 0.00 0.75 +0.75
  main.hash 0.00 0.25 +0.25
 main.read 0.10 0.25 +0.15
`
	if got.String() != want {
		t.Errorf("got\n%swant\n%s", got.String(), want)
	}
	for name, sides := range map[string][2][]*kasoku.Profile{
		"not kept": {append(before, &kasoku.Profile{Kind: kasoku.ProfileCPU, Total: 3}), after}, "nothing": {before, nil},
	} {
		if root, err := profile.MovedTree(sides[0], sides[1]); root != nil || err != nil {
			t.Errorf("%s: %v, %v", name, root, err)
		}
	}
	if _, err := profile.MovedTree(before, []*kasoku.Profile{{Kind: kasoku.ProfileCPU, Data: []byte("x")}}); err == nil {
		t.Error("a damaged profile is read")
	}
}
