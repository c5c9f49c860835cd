package nginx

import "github.com/kasoku/kasoku/observe"

// A Table is [nginx] of kasoku.toml: where a web server counts its connections and
// requests.
type Table struct {
	Status string `toml:"status" eg:"'http://127.0.0.1/nginx_status'"` // page of stub_status; empty: not read
}

// IsSet reports whether the server is to be read.
func (t *Table) IsSet() bool { return t.Status != "" }

// Address returns where the page is.
func (t *Table) Address() string { return t.Status }

// Check returns what is wrong with the URL of the page.
func (t *Table) Check() []observe.Fault {
	if t.Status == "" {
		return nil
	}
	if err := Check(t.Status); err != nil {
		return []observe.Fault{{
			Key: "status", Text: err.Error(),
			Hint: "such as 'http://127.0.0.1/nginx_status', a location with stub_status;",
		}}
	}
	return nil
}

// Open returns the source.
func (t *Table) Open() (observe.Source, error) {
	s, err := New(t.Status)
	if err != nil {
		return nil, err
	}
	return s, nil
}
