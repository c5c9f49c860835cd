package answers

import (
	"context"
	"fmt"
)

// Held are answers that a change must not alter: Keep asks before it, Differences after it.
// It is for one goroutine.
type Held struct {
	Asker    Asker
	Requests []Request

	golden *Golden
}

// Keep asks for the answers as they are now.
func (h *Held) Keep(ctx context.Context) error {
	out, err := h.Asker.Record(ctx, h.Requests)
	if err != nil {
		return fmt.Errorf("answers before the change: %w", err)
	}
	if len(out.Golden.Answers) == 0 {
		why := "there is no request"
		if len(out.Left) > 0 {
			why = out.Left[0].Request.String() + ": " + out.Left[0].Why
		}
		return fmt.Errorf("answers before the change: none could be kept: %s", why)
	}
	h.golden = out.Golden
	return nil
}

// Differences asks again and returns what is answered otherwise, a line each.
func (h *Held) Differences(ctx context.Context) ([]string, error) {
	out, err := h.Asker.Check(ctx, h.golden)
	if err != nil {
		return nil, fmt.Errorf("answers after the change: %w", err)
	}
	var lines []string
	for i := range out.Differences {
		lines = append(lines, out.Differences[i].String())
	}
	return lines, nil
}

// Requests returns what a golden file asks for.
func (g *Golden) Requests() []Request {
	out := make([]Request, len(g.Answers))
	for i := range g.Answers {
		out[i] = g.Answers[i].Request
	}
	return out
}
