package isuportal

import (
	"context"
	"net/http"
	"time"

	"github.com/kasoku/kasoku/labs/kit"
)

// questions are what teams ask, and the staff answers.
type questions struct{ *server }

// A clarification is a team's question, and the answer to it.
type clarification struct {
	ID       int64    `json:"id"`
	Team     string   `json:"team"`
	Leader   string   `json:"leader"`
	Members  []string `json:"members"`
	Question string   `json:"question"`
	Answer   string   `json:"answer"`
	Answered bool     `json:"answered"`

	team int64
}

const ofTeamOrAll = " WHERE c.team_id = ? OR c.disclosed = 1 ORDER BY c.id DESC"

// listClarifications are a team's, and those that were disclosed.
func (s *questions) listClarifications(ctx context.Context, p *person, _ *http.Request) (any, error) {
	return s.clarifications(ctx, ofTeamOrAll, p.team)
}

// openQuestions are those without an answer.
func (s *questions) openQuestions(r *http.Request) (any, error) {
	return s.clarifications(r.Context(), " WHERE c.answered_at IS NULL ORDER BY c.id")
}

func (s *questions) clarifications(ctx context.Context, where string, args ...any) ([]clarification, error) {
	const own = "c.id, c.team_id, c.question, COALESCE(c.answer, ''), c.answered_at IS NOT NULL"
	if s.d.Has("QRY-05") {
		rows, err := s.db.QueryContext(ctx, "SELECT "+own+" FROM clarifications c"+where, args...)
		all, err := kit.Collect(rows, err, func(c *clarification) []any {
			return []any{&c.ID, &c.team, &c.Question, &c.Answer, &c.Answered}
		})
		for i := range all {
			if err == nil {
				err = s.fillTeam(ctx, &all[i])
			}
		}
		return all, err
	}
	type row struct {
		clarification
		member string
	}
	rows, err := s.db.QueryContext(ctx,
		"SELECT "+own+", t.name, l.name, m.name FROM clarifications c JOIN teams t ON t.id = c.team_id "+
			"JOIN contestants l ON l.id = t.leader_id JOIN contestants m ON m.team_id = t.id"+where+", m.created_at, m.id", args...)
	all, err := kit.Collect(rows, err, func(c *row) []any {
		return []any{&c.ID, &c.team, &c.Question, &c.Answer, &c.Answered, &c.Team, &c.Leader, &c.member}
	})
	out := []clarification{}
	for _, c := range all {
		if len(out) == 0 || out[len(out)-1].ID != c.ID {
			out = append(out, c.clarification)
		}
		last := &out[len(out)-1]
		last.Members = append(last.Members, c.member)
	}
	return out, err
}

// fillTeam reads what belongs to a clarification's team by three statements.
func (s *questions) fillTeam(ctx context.Context, c *clarification) error {
	var leader string
	if err := s.db.QueryRowContext(ctx, "SELECT name, leader_id FROM teams WHERE id = ? LIMIT 1",
		c.team).Scan(&c.Team, &leader); err != nil {
		return err
	}
	if err := s.db.QueryRowContext(ctx, "SELECT name FROM contestants WHERE id = ? LIMIT 1",
		leader).Scan(&c.Leader); err != nil {
		return err
	}
	rows, err := s.db.QueryContext(ctx, "SELECT name FROM contestants WHERE team_id = ? ORDER BY created_at, id",
		c.team)
	c.Members, err = kit.Collect(rows, err, func(name *string) []any { return []any{name} })
	return err
}

// askQuestion adds a clarification.
func (s *questions) askQuestion(ctx context.Context, p *person, r *http.Request) (any, error) {
	var asked struct {
		Question string `json:"question"`
	}
	if err := read(r, &asked); err != nil || asked.Question == "" {
		return nil, errBody
	}
	res, err := s.db.ExecContext(ctx, "INSERT INTO clarifications (team_id, question, created_at) VALUES (?, ?, ?)",
		p.team,
		asked.Question, time.Now().UTC())
	if err != nil {
		return nil, err
	}
	id, err := res.LastInsertId()
	return map[string]int64{"id": id}, err
}

// answerQuestion answers one, for its team or, disclosed, for all.
func (s *questions) answerQuestion(r *http.Request) (any, error) {
	var said struct {
		Answer   string `json:"answer"`
		Disclose bool   `json:"disclose"`
	}
	if err := read(r, &said); err != nil || said.Answer == "" {
		return nil, errBody
	}
	ctx := r.Context()
	var id, team int64
	if err := s.db.QueryRowContext(ctx, "SELECT id, team_id FROM clarifications WHERE id = ?",
		r.PathValue("id")).Scan(&id,
		&team); err != nil {
		return nil, err
	}
	if _, err := s.db.ExecContext(ctx,
		"UPDATE clarifications SET disclosed = ?, answer = ?, answered_at = ? WHERE id = ?", said.Disclose,
		said.Answer, time.Now().UTC(), id); err != nil {
		return nil, err
	}
	to := s.members(team)
	if said.Disclose {
		to = s.everyone
	}
	return nothing{}, s.notify(ctx, "clarification", id, to)
}
