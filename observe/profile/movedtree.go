package profile

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"github.com/kasoku/kasoku"
)

// A MovedNode is a function in the stacks of two sides. Its shares are parts of each side's whole, in it and in what
// it calls; a side that does not have the stack has 0 there.
type MovedNode struct {
	Name          string
	Class         Class
	Before, After float64
	Children      []*MovedNode
}

// Mean is the mean of both sides' shares. Those of what a function calls add up to no more than its own.
func (n *MovedNode) Mean() float64 { return (n.Before + n.After) / 2 }

// Points returns how much the share moved, -1..1.
func (n *MovedNode) Points() float64 { return n.After - n.Before }

// MovedTree returns the stacks of the kept profiles of two sides as one tree, the largest branches first. Profiles of
// a side are added up. It is nil where a profile was not kept, or a side counted nothing.
func MovedTree(before, after []*kasoku.Profile) (*MovedNode, error) {
	root := &MovedNode{Class: Library}
	for i, side := range [2][]*kasoku.Profile{before, after} {
		var trees []*Node
		whole := 0.0
		for _, p := range side {
			if len(p.Data) == 0 {
				return nil, nil
			}
			t, err := Tree(p)
			if err != nil {
				return nil, err
			}
			trees = append(trees, t)
			whole += float64(t.Value)
		}
		if whole <= 0 {
			return nil, nil
		}
		for _, t := range trees {
			root.add(t, i == 0, whole)
		}
	}
	root.sort()
	return root, nil
}

// add adds the stacks of one side.
func (n *MovedNode) add(of *Node, before bool, whole float64) {
	if share := float64(of.Value) / whole; before {
		n.Before += share
	} else {
		n.After += share
	}
	at := make(map[string]*MovedNode, len(n.Children))
	for _, c := range n.Children {
		at[c.Name] = c
	}
	for _, c := range of.Children {
		child := at[c.Name]
		if child == nil {
			child = &MovedNode{Name: c.Name, Class: c.Class}
			at[c.Name] = child
			n.Children = append(n.Children, child)
		}
		child.add(c, before, whole)
	}
}

func (n *MovedNode) sort() {
	slices.SortFunc(n.Children, func(a, b *MovedNode) int {
		if math.Abs(a.Mean()-b.Mean()) > 1e-12 { // else what was added in another order would stand in another
			return cmp.Compare(b.Mean(), a.Mean())
		}
		return strings.Compare(a.Name, b.Name)
	})
	for _, c := range n.Children {
		c.sort()
	}
}
