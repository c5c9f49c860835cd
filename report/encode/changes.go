package encode

import (
	"github.com/kasoku/kasoku/compare"
)

// An EndpointChange is a route on both sides; null where a side does not have it.
type EndpointChange struct {
	Before *Endpoint `json:"before"`
	After  *Endpoint `json:"after"`
}

// A QueryChange is a class of statements on both sides.
type QueryChange struct {
	Before *Query `json:"before"`
	After  *Query `json:"after"`
}

// A TransactionChange is a class of transactions on both sides.
type TransactionChange struct {
	Before *Transaction `json:"before"`
	After  *Transaction `json:"after"`
}

// A PlanChange is a statement that the server runs in another way.
type PlanChange struct {
	ID          string       `json:"id"`
	Fingerprint string       `json:"fingerprint"`
	Order       bool         `json:"order_differs"`
	Steps       []StepChange `json:"steps"`
}

// A StepChange is a step of both plans.
type StepChange struct {
	Moved  bool      `json:"moved"`
	Before *PlanStep `json:"before"`
	After  *PlanStep `json:"after"`
}

func newPlanChange(p *compare.PlanChange) PlanChange {
	return PlanChange{p.ID, p.Fingerprint, p.Order, list(p.Steps, func(s *compare.PlanMoved) StepChange {
		return StepChange{s.Moved, side(s.Before, newPlanStep), side(s.After, newPlanStep)}
	})}
}

// An AdviceChange is what became of what was advised.
type AdviceChange struct {
	State   string  `json:"state"` // gone, left, new
	InForce string  `json:"in_force,omitempty"`
	Before  *Advice `json:"before"`
	After   *Advice `json:"after"`
}

// side makes the JSON of a side, null without one.
func side[T, U any](x *T, f func(*T) U) *U {
	if x == nil {
		return nil
	}
	out := f(x)
	return &out
}
