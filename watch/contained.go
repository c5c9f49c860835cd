package watch

import "github.com/kasoku/kasoku/internal/contain"

// contained draws one part of the screen. One that panics is a line that says so.
func (c *canvas) contained(name string, draw func()) {
	if bug := contain.Run(panel(name), draw); bug != nil {
		c.line(piece{" This part is lost. " + clean(bug.Error()), warning})
	}
}

// table makes a pane's table as it is sorted and filtered.
func (m *Model) table(id string) table {
	for _, p := range panes {
		if p.id == id {
			t := table{id: id, title: id}
			if bug := contain.Run(panel("table "+id), func() {
				made := p.make(m.look())
				made.arrange(m.tables.sorts[id], m.tables.filter[id])
				t = made
			}); bug != nil {
				m.message = bug.Error()
			}
			return t
		}
	}
	return table{}
}

// findings makes the table of findings; an empty one where that panics.
func (m *Model) findings() (t table) {
	if bug := contain.Run(panel("table findings"), func() { t = m.look().findings() }); bug != nil {
		m.message = bug.Error()
	}
	return t
}
