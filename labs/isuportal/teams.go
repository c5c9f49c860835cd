package isuportal

import (
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"net/http"
	"time"

	"github.com/kasoku/kasoku/labs/kit"
)

// A person is who asks.
type person struct {
	id    string
	team  int64 // 0: none
	staff bool
}

// contestant is who asks, and is known, as a member of a team; the service of the contest reads
// both rows at each request.
func (s *server) contestant(r *http.Request) (*person, error) {
	p, err := s.person(r)
	if err == nil && p.team == 0 {
		return nil, errNoTeam
	}
	return p, err
}

func (s *server) person(r *http.Request) (*person, error) {
	c, err := r.Cookie("contestant")
	if err != nil {
		return nil, errStranger
	}
	if p, ok := s.sessions.Load(c.Value); ok && !s.d.Has("QRY-07") {
		return p.(*person), nil
	}
	p := &person{id: c.Value}
	var team sql.NullInt64
	err = s.db.QueryRowContext(r.Context(), "SELECT team_id, staff FROM contestants WHERE id = ? LIMIT 1",
		p.id).Scan(&team, &p.staff)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, errStranger
	}
	if p.team = team.Int64; err == nil && p.team != 0 {
		var withdrawn bool
		err = s.db.QueryRowContext(r.Context(), "SELECT withdrawn FROM teams WHERE id = ? LIMIT 1",
			p.team).Scan(&withdrawn)
		if err == nil {
			s.sessions.Store(p.id, p) // a team is never left
		}
	}
	return p, err
}

// ofTeam calls a handler with who asks.
func (s *server) ofTeam(do func(ctx context.Context, p *person, r *http.Request) (any,
	error)) func(*http.Request) (any, error) {
	return func(r *http.Request) (any, error) {
		p, err := s.contestant(r)
		if err != nil {
			return nil, err
		}
		return do(r.Context(), p, r)
	}
}

// ofStaff calls a handler for staff alone.
func (s *server) ofStaff(do func(r *http.Request) (any, error)) func(*http.Request) (any, error) {
	return func(r *http.Request) (any, error) {
		p, err := s.person(r)
		if err != nil {
			return nil, err
		}
		if !p.staff {
			return nil, errNoTeam
		}
		return do(r)
	}
}

type credentials struct {
	ID       string `json:"contestant_id"`
	Password string `json:"password"`
}

type nothing struct{}

func (s *server) signUp(r *http.Request) (any, error) {
	var c credentials
	if err := read(r, &c); err != nil || c.ID == "" {
		return nil, errBody
	}
	_, err := s.db.ExecContext(r.Context(),
		"INSERT INTO contestants (id, password, created_at) VALUES (?, ?, NOW(6))", c.ID, c.Password)
	return nothing{}, err
}

func (s *server) logIn(r *http.Request) (any, error) {
	var c credentials
	if err := read(r, &c); err != nil {
		return nil, err
	}
	var password string
	err := s.db.QueryRowContext(r.Context(), "SELECT password FROM contestants WHERE id = ? LIMIT 1",
		c.ID).Scan(&password)
	if errors.Is(err, sql.ErrNoRows) || err == nil && password != c.Password {
		return nil, errStranger
	}
	return nothing{}, err
}

// session says who asks, and whether notifications are pushed.
func (s *server) session(r *http.Request) (any, error) {
	p, err := s.person(r)
	if err != nil {
		return nil, err
	}
	out := struct {
		ID   string `json:"contestant_id"`
		Team int64  `json:"team_id"`
		Key  string `json:"push_key"` // empty: they are polled for
	}{ID: p.id, Team: p.team}
	if s.d.Has("APP-06") {
		return out, nil
	}
	err = s.push.learn(r.Context(), s.db)
	out.Key = s.push.key()
	return out, err
}

// A newTeam is asked for.
type newTeam struct {
	Team    string `json:"team_name"`
	Name    string `json:"name"`
	Email   string `json:"email_address"`
	Student bool   `json:"is_student"`
}

var errFull = &refusal{http.StatusForbidden, "チーム登録は定員に達しました"}

// makeTeam makes a team with its leader, while there is room.
func (s *server) makeTeam(r *http.Request) (any, error) {
	p, err := s.person(r)
	if err != nil {
		return nil, err
	}
	var t newTeam
	if err := read(r, &t); err != nil {
		return nil, err
	}
	if p.team != 0 {
		return nil, errBody
	}
	ctx := r.Context()
	_, starts, _, _, err := s.contest(ctx)
	if err != nil {
		return nil, err
	}
	if !time.Now().Before(starts) {
		return nil, errFull
	}
	token := rand.Text()
	id, err := s.insertTeam(ctx, p.id, token, &t)
	if err != nil {
		return nil, err
	}
	return struct {
		ID    int64  `json:"team_id"`
		Token string `json:"invite_token"`
	}{id, token}, nil
}

// insertTeam makes the rows on one connection: under LOCK TABLES, as the contest's service did, or in a
// transaction that one row serializes.
func (s *server) insertTeam(ctx context.Context, leader, token string, t *newTeam) (id int64, err error) {
	conn, err := s.db.Conn(ctx)
	if err != nil {
		return 0, err
	}
	defer conn.Close()
	begin, end, undo := "START TRANSACTION", "COMMIT", "ROLLBACK"
	if s.d.Has("LCK-04") {
		begin, end, undo = "LOCK TABLES teams WRITE, contestants WRITE", "UNLOCK TABLES", "UNLOCK TABLES"
	}
	if _, err := conn.ExecContext(ctx, begin); err != nil {
		return 0, err
	}
	defer func() {
		last := end
		if err != nil {
			last = undo
		}
		_, failed := conn.ExecContext(context.WithoutCancel(ctx), last)
		err = errors.Join(err, failed)
	}()
	if !s.d.Has("LCK-04") { // one after another
		if _, err := conn.ExecContext(ctx, "SELECT id FROM contestants WHERE id = 'admin' FOR UPDATE"); err != nil {
			return 0, err
		}
	}
	var teams int
	if err := conn.QueryRowContext(ctx, "SELECT COUNT(*) FROM teams").Scan(&teams); err != nil {
		return 0, err
	}
	if teams >= s.capacity {
		return 0, errFull
	}
	res, err := conn.ExecContext(ctx,
		"INSERT INTO teams (name, email_address, invite_token, created_at) VALUES (?, ?, ?, NOW(6))",
		t.Team, t.Email, token)
	if err != nil {
		return 0, err
	}
	if id, err = res.LastInsertId(); err != nil {
		return 0, err
	}
	if _, err := conn.ExecContext(ctx, "UPDATE contestants SET name = ?, student = ?, team_id = ? WHERE id = ?",
		t.Name, t.Student,
		id, leader); err != nil {
		return 0, err
	}
	_, err = conn.ExecContext(ctx, "UPDATE teams SET leader_id = ? WHERE id = ?", leader, id)
	return id, err
}

// mostMembers of a team.
const mostMembers = 3

// joinTeam adds a member who has the team's token.
func (s *server) joinTeam(r *http.Request) (any, error) {
	p, err := s.person(r)
	if err != nil {
		return nil, err
	}
	var m struct {
		Team    int64  `json:"team_id"`
		Token   string `json:"invite_token"`
		Name    string `json:"name"`
		Student bool   `json:"is_student"`
	}
	if err := read(r, &m); err != nil || p.team != 0 {
		return nil, errBody
	}
	_, starts, _, _, err := s.contest(r.Context())
	if err != nil {
		return nil, err
	}
	if !time.Now().Before(starts) {
		return nil, errFull
	}
	tx, err := s.db.BeginTx(r.Context(), nil)
	if err != nil {
		return nil, err
	}
	defer tx.Rollback() // it was committed, or the error before counts
	var token, own string
	var members int
	// Contestants come first, as LOCK TABLES takes them: by name.
	if err := tx.QueryRowContext(r.Context(), "SELECT id FROM contestants WHERE id = ? FOR UPDATE",
		p.id).Scan(&own); err != nil {
		return nil, err
	}
	err = tx.QueryRowContext(r.Context(), "SELECT invite_token FROM teams WHERE id = ? FOR UPDATE", m.Team).Scan(&token)
	if err == nil && token != m.Token {
		err = errNoTeam
	}
	if err == nil {
		err = tx.QueryRowContext(r.Context(), "SELECT COUNT(*) FROM contestants WHERE team_id = ?",
			m.Team).Scan(&members)
	}
	if err == nil && members >= mostMembers {
		err = errNoTeam
	}
	if err != nil {
		return nil, err
	}
	if _, err := tx.ExecContext(r.Context(),
		"UPDATE contestants SET team_id = ?, name = ?, student = ? WHERE id = ?", m.Team, m.Name,
		m.Student, p.id); err != nil {
		return nil, err
	}
	return nothing{}, tx.Commit()
}

// listTeams is for the audience: who takes part.
func (s *server) listTeams(r *http.Request) (any, error) {
	type team struct {
		Name    string   `json:"name"`
		Members []string `json:"members"`
	}
	rows, err := s.db.QueryContext(r.Context(),
		"SELECT t.name, c.name FROM teams t JOIN contestants c ON c.team_id = t.id "+
			"WHERE t.withdrawn = 0 ORDER BY t.created_at DESC, t.id, c.created_at")
	type pair struct{ team, member string }
	all, err := kit.Collect(rows, err, func(p *pair) []any { return []any{&p.team, &p.member} })
	out := []team{}
	for _, p := range all {
		if len(out) == 0 || out[len(out)-1].Name != p.team {
			out = append(out, team{Name: p.team})
		}
		last := &out[len(out)-1]
		last.Members = append(last.Members, p.member)
	}
	return out, err
}
