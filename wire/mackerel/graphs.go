package mackerel

import (
	"context"
	"net/http"
	"slices"
)

// A Graph defines how metrics of hosts are drawn: those whose names are the graph's
// with one part more. One part of its name may be '#', which stands for any.
type Graph struct {
	Name    string `json:"name"` // custom.kasoku.host.disk.read_bytes.#
	Label   string `json:"displayName"`
	Unit    string `json:"unit"` // one of the service's; see [Unit]
	Metrics []Line `json:"metrics"`
}

// A Line is a metric on a graph.
type Line struct {
	Name    string `json:"name"` // whole, with the graph's
	Label   string `json:"displayName"`
	Stacked bool   `json:"isStacked"`
}

// graphsPerPost is how many graphs go into one request.
const graphsPerPost = 100

// DefineGraphs posts how graphs of hosts are drawn. A definition takes the place of the
// one before with its name.
func (c *Client) DefineGraphs(ctx context.Context, graphs []Graph) error {
	for part := range slices.Chunk(graphs, graphsPerPost) {
		if err := c.do(ctx, http.MethodPost, "/api/v0/graph-defs/create", part, nil); err != nil {
			return err
		}
	}
	return nil
}

// Unit is the unit of a graph for a unit of kasoku's, "float" where the service has
// none like it: a ratio is none, since its percentages go to 100.
func Unit(of string) string {
	switch of {
	case "bytes":
		return "bytes"
	case "bytes/s":
		return "bytes/sec"
	case "s":
		return "seconds"
	}
	return "float"
}
