package isuportal

import (
	"context"
	"database/sql"
	"errors"
	"net/http"
	"time"
)

// States of a job.
const (
	pending  = 0
	sent     = 1
	running  = 2
	finished = 4
)

// A job of a team, as it is shown.
type job struct {
	ID       int64  `json:"id"`
	Status   int    `json:"status"`
	Target   string `json:"target_hostname"`
	Score    *int64 `json:"score"`
	Created  int64  `json:"created_at"` // milliseconds of Unix time
	Finished *int64 `json:"finished_at"`
}

const jobColumns = "SELECT id, status, target_hostname, score_raw - score_deduction, created_at, finished_at FROM benchmark_jobs "

func scanJob(j *job, created *time.Time, ended *sql.NullTime) []any {
	return []any{&j.ID, &j.Status, &j.Target, &j.Score, created, ended}
}

// jobs reads jobs by a condition.
func (s *server) jobs(ctx context.Context, where string, args ...any) ([]job, error) {
	rows, err := s.db.QueryContext(ctx, jobColumns+where, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	out := []job{}
	for rows.Next() {
		var j job
		var created time.Time
		var ended sql.NullTime
		if err := rows.Scan(scanJob(&j, &created, &ended)...); err != nil {
			return nil, err
		}
		j.Created = created.UnixMilli()
		if ended.Valid {
			at := ended.Time.UnixMilli()
			j.Finished = &at
		}
		out = append(out, j)
	}
	return out, rows.Err()
}

func (s *server) listJobs(ctx context.Context, p *person, _ *http.Request) (any, error) {
	return s.jobs(ctx, "WHERE team_id = ? ORDER BY id DESC LIMIT 10", p.team)
}

func (s *server) oneJob(ctx context.Context, p *person, r *http.Request) (any, error) {
	all, err := s.jobs(ctx, "WHERE team_id = ? AND id = ?", p.team, r.PathValue("id"))
	if err != nil || len(all) == 0 {
		return nil, errors.Join(err, errNone)
	}
	return all[0], nil
}

var errBusy = &refusal{http.StatusForbidden, "a job of the team is not finished"}

// enqueue adds a job for a team that has none under way.
func (s *server) enqueue(ctx context.Context, p *person, r *http.Request) (any, error) {
	var asked struct {
		Target string `json:"target_hostname"`
	}
	if err := read(r, &asked); err != nil || asked.Target == "" {
		return nil, errBody
	}
	_, starts, _, ends, err := s.contest(ctx)
	if err != nil {
		return nil, err
	}
	if now := time.Now(); now.Before(starts) || !now.Before(ends) {
		return nil, &refusal{http.StatusForbidden, "the contest is not on"}
	}
	var open int
	if err := s.db.QueryRowContext(ctx, "SELECT COUNT(*) FROM benchmark_jobs WHERE team_id = ? AND finished_at IS NULL",
		p.team).Scan(&open); err != nil {
		return nil, err
	}
	if open > 0 {
		return nil, errBusy
	}
	now := time.Now().UTC()
	res, err := s.db.ExecContext(ctx,
		"INSERT INTO benchmark_jobs (team_id, status, target_hostname, created_at, updated_at) "+
			"VALUES (?, ?, ?, ?, ?)", p.team, pending, asked.Target, now, now)
	if err != nil {
		return nil, err
	}
	id, err := res.LastInsertId()
	return job{ID: id, Status: pending, Target: asked.Target, Created: now.UnixMilli()}, err
}

// A queue is the server as benchmarkers see it.
type queue struct{ *server }

// How a benchmarker waits: so many looks, so far apart, 450 ms where there is none.
const (
	looks     = 10
	looksEach = 50 * time.Millisecond
)

// A given job is one that a benchmarker gets; without an id there was none.
type given struct {
	ID     int64  `json:"job_id"`
	Target string `json:"target_hostname"`
}

// receive gives out the oldest job that waits, at most once, or none after 450 ms.
func (s *queue) receive(r *http.Request) (any, error) {
	if s.d.Has("POOL-06") { // the connection is held while nothing is done
		tx, err := s.db.BeginTx(r.Context(), nil)
		if err != nil {
			return nil, err
		}
		defer tx.Rollback() // it was committed, or the error before counts
		out, err := s.await(r.Context(), tx)
		if err != nil {
			return nil, err
		}
		return out, tx.Commit()
	}
	return s.await(r.Context(), s.db)
}

// A querier is a transaction, or a pool of connections.
type querier interface {
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
}

// await looks until a job is there.
func (s *queue) await(ctx context.Context, q querier) (out given, err error) {
	for n := range looks {
		if n > 0 {
			select {
			case <-ctx.Done():
				return given{}, ctx.Err()
			case <-time.After(looksEach):
			}
		}
		var found given
		// A transaction sees what there was at its first look: it waits to the end where nothing was.
		err := q.QueryRowContext(ctx,
			"SELECT id, target_hostname FROM benchmark_jobs WHERE status = ? ORDER BY id LIMIT 1",
			pending).Scan(&found.ID, &found.Target)
		switch {
		case errors.Is(err, sql.ErrNoRows):
			continue
		case err != nil:
			return given{}, err
		}
		if ok, err := s.take(ctx, q, found.ID); err != nil || ok {
			return found, err
		}
		if _, held := q.(*sql.Tx); held { // it would see the job to the end, and keep it locked for whoever has it
			return given{}, nil
		}
	}
	return given{}, nil
}

// take makes a job that of one benchmarker, and reports whether it was free.
func (s *queue) take(ctx context.Context, q querier, id int64) (bool, error) {
	now := time.Now().UTC()
	if s.d.Has("LCK-03") {
		if tx, ok := q.(*sql.Tx); ok {
			return takeLocked(ctx, tx, id, now)
		}
		tx, err := s.db.BeginTx(ctx, nil)
		if err != nil {
			return false, err
		}
		defer tx.Rollback() // it was committed, or the error before counts
		ok, err := takeLocked(ctx, tx, id, now)
		if err != nil || !ok {
			return false, err
		}
		return true, tx.Commit()
	}
	res, err := q.ExecContext(ctx,
		"UPDATE benchmark_jobs FORCE INDEX (PRIMARY) SET status = ?, handle = ?, updated_at = ? "+
			"WHERE id = ? AND status = ?", sent, // by_status would be locked before the row, and deadlock
		"given", now, id, pending)
	if err != nil {
		return false, err
	}
	n, err := res.RowsAffected()
	return n == 1, err
}

// takeLocked locks the row first, as the contest's service did.
func takeLocked(ctx context.Context, tx *sql.Tx, id int64, now time.Time) (bool, error) {
	var one int
	err := tx.QueryRowContext(ctx, "SELECT 1 FROM benchmark_jobs WHERE id = ? AND status = ? FOR UPDATE", id,
		pending).Scan(&one)
	if errors.Is(err, sql.ErrNoRows) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	_, err = tx.ExecContext(ctx, "UPDATE benchmark_jobs SET status = ?, handle = ?, updated_at = ? WHERE id = ?",
		sent, "given", now, id)
	return err == nil, err
}

// report takes what a benchmarker says of its job: that it runs, or its result.
func (s *queue) report(r *http.Request) (any, error) {
	var said struct {
		Job       int64 `json:"job_id"`
		Finished  bool  `json:"finished"`
		Raw       int64 `json:"score_raw"`
		Deduction int64 `json:"score_deduction"`
	}
	if err := read(r, &said); err != nil {
		return nil, err
	}
	ctx := r.Context()
	tx, err := s.db.BeginTx(ctx, nil)
	if err != nil {
		return nil, err
	}
	defer tx.Rollback() // it was committed, or the error before counts
	var team int64
	var status int
	if err := tx.QueryRowContext(ctx, "SELECT team_id, status FROM benchmark_jobs WHERE id = ? FOR UPDATE",
		said.Job).Scan(&team,
		&status); err != nil {
		return nil, err
	}
	now := time.Now().UTC()
	switch {
	case said.Finished && status == running:
		_, err = tx.ExecContext(ctx,
			"UPDATE benchmark_jobs SET status = ?, score_raw = ?, score_deduction = ?, passed = 1, "+
				"updated_at = ?, finished_at = ? WHERE id = ?", finished, said.Raw, said.Deduction, now, now, said.Job)
	case !said.Finished && status == sent:
		_, err = tx.ExecContext(ctx,
			"UPDATE benchmark_jobs SET status = ?, started_at = ?, updated_at = ? WHERE id = ?", running, now,
			now, said.Job)
	default:
		err = errBody
	}
	if err == nil {
		err = tx.Commit()
	}
	if err == nil && said.Finished {
		err = s.notify(ctx, "job", said.Job, s.members(team))
	}
	return nothing{}, err
}
