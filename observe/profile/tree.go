package profile

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/kasoku/kasoku"
)

// A Node is a function in the tree of all stacks, below what called it.
type Node struct {
	Name     string
	Class    Class
	Value    int64 // in it and in what it calls
	Own      int64 // in it
	Children []*Node
}

// mostNodes bounds a tree; a profile of a large service has some 20,000.
const mostNodes = 200_000

// Tree returns the stacks of a kept profile as a tree, the largest branches first.
// Its root is the whole. Recursion stays as it is.
func Tree(p *kasoku.Profile) (*Node, error) {
	read, err := Decode(p.Data)
	if err != nil {
		return nil, err
	}
	type edge struct {
		from *Node
		to   string
	}
	value, root := valueOf(read, p.Kind), &Node{Class: Library}
	known := map[edge]*Node{}
	var frames []frame
	for _, s := range read.Sample {
		v := s.Value[value]
		if v == 0 {
			continue
		}
		frames = frames[:0]
		stack(s, func(f frame) { frames = append(frames, f) })
		at := root
		at.Value += v
		for _, f := range slices.Backward(frames) {
			next := known[edge{at, f.name}]
			if next == nil {
				if len(known) >= mostNodes {
					return nil, fmt.Errorf("more than %d places in the tree of stacks", mostNodes)
				}
				next = &Node{Name: f.name, Class: ClassOf(f.name, f.file)}
				known[edge{at, f.name}] = next
				at.Children = append(at.Children, next)
			}
			next.Value += v
			at = next
		}
		at.Own += v
	}
	root.sort()
	return root, nil
}

func (n *Node) sort() {
	slices.SortFunc(n.Children, func(a, b *Node) int {
		return cmp.Or(cmp.Compare(b.Value, a.Value), strings.Compare(a.Name, b.Name))
	})
	for _, c := range n.Children {
		c.sort()
	}
}

// WriteFolded writes the stacks of a kept profile in the format of flame graph tools,
// outermost function first: main.main;main.serve;main.hash 120. A semicolon in a
// name becomes a comma.
func WriteFolded(w io.Writer, p *kasoku.Profile) error {
	root, err := Tree(p)
	if err != nil {
		return err
	}
	b := bufio.NewWriter(w)
	var walk func(n *Node, above string)
	walk = func(n *Node, above string) {
		at := above + strings.ReplaceAll(n.Name, ";", ",")
		if n.Own > 0 {
			fmt.Fprintf(b, "%s %d\n", at, n.Own)
		}
		for _, c := range n.Children {
			walk(c, at+";")
		}
	}
	for _, c := range root.Children {
		walk(c, "")
	}
	return b.Flush()
}
