package mackerel

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
)

// A HostState is the status that Mackerel keeps of a host.
type HostState struct {
	Status  string `json:"status"` // working, standby, maintenance, poweroff
	Retired bool   `json:"isRetired"`
}

// HostState returns the state of the host with an id. An answer without a status is
// an error: something else has answered.
func (c *Client) HostState(ctx context.Context, id string) (HostState, error) {
	var answer struct {
		Host HostState `json:"host"`
	}
	path := "/api/v0/hosts/" + url.PathEscape(id)
	if err := c.do(ctx, http.MethodGet, path, nil, &answer); err != nil {
		return HostState{}, err
	}
	if answer.Host.Status == "" {
		return HostState{}, fmt.Errorf("GET %s: %w: it has no status", path, errAnswer)
	}
	return answer.Host, nil
}
