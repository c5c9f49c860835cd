package isuportal

import (
	"bytes"
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/kasoku/kasoku/labs/kit"
)

// A score of a finished job.
type score struct {
	Score int64 `json:"score"`
	At    int64 `json:"marked_at"` // milliseconds of Unix time
}

// A standing is a team's line of the ranking.
type standing struct {
	ID       int64   `json:"id"`
	Name     string  `json:"name"`
	Student  bool    `json:"student"`
	Latest   *score  `json:"latest"`
	Best     *score  `json:"best"`
	Finishes int     `json:"finish_count"`
	Scores   []score `json:"scores"`

	latestAt time.Time // in full, by which equal scores are ranked
}

// A ranking is what a dashboard shows.
type ranking struct {
	Leaderboard struct {
		Teams []standing `json:"teams"`
	} `json:"leaderboard"`
}

// dashboard writes the ranking as a team sees it, 0 for the audience: others' jobs that finished after
// the freeze are not in it until the contest is over.
func (s *server) dashboard(w http.ResponseWriter, r *http.Request, team int64) {
	_, starts, freezes, ends, err := s.contest(r.Context())
	var body []byte
	if err == nil {
		now := time.Now()
		until := freezes
		if now.After(ends) || now.Before(freezes) {
			until = time.Time{} // nothing is hidden
		}
		if s.d.Has("QRY-07") {
			body, err = s.rankingBySQL(r.Context(), team, until)
		} else {
			err = s.board.update(r.Context(), s.db, now.Before(starts.Add(lateMembers)))
			if err == nil {
				body, err = s.board.render(team, until)
			}
		}
	}
	if err != nil {
		s.fail(w, err)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.Write(body) //nolint:errcheck // the client is gone
}

// far is later than any job.
var far = time.Date(2100, 1, 1, 0, 0, 0, 0, time.UTC)

// shownJobs are the finished jobs that are shown: all until a time, and those of one team.
const shownJobs = "finished_at IS NOT NULL AND (team_id = ? OR finished_at < ?)"

// rankingBySQL has the database sum up all jobs, as the contest's service did.
func (s *server) rankingBySQL(ctx context.Context, team int64, until time.Time) ([]byte, error) {
	if until.IsZero() {
		until = far
	}
	tx, err := s.db.BeginTx(ctx, nil)
	if err != nil {
		return nil, err
	}
	defer tx.Rollback() // it was committed, or the error before counts
	rows, err := tx.QueryContext(ctx,
		`SELECT t.id, t.name, COALESCE(flags.student, 0), last.score_raw - last.score_deduction AS latest_score,
		last.finished_at AS latest_at, best.score_raw - best.score_deduction, best.finished_at, COALESCE(lasts.finishes, 0)
		FROM teams t
		LEFT JOIN (SELECT MAX(id) AS id, team_id, COUNT(*) AS finishes FROM benchmark_jobs WHERE `+shownJobs+`
		  GROUP BY team_id) lasts ON lasts.team_id = t.id
		LEFT JOIN benchmark_jobs last ON last.id = lasts.id
		LEFT JOIN (SELECT MIN(j.id) AS id, j.team_id FROM
		  (SELECT team_id, MAX(score_raw - score_deduction) AS score FROM benchmark_jobs WHERE `+shownJobs+`
		   GROUP BY team_id) scores
		  JOIN benchmark_jobs j ON j.team_id = scores.team_id AND j.score_raw - j.score_deduction = scores.score
		  WHERE j.finished_at IS NOT NULL AND (j.team_id = ? OR j.finished_at < ?) GROUP BY j.team_id) bests ON bests.team_id = t.id
		LEFT JOIN benchmark_jobs best ON best.id = bests.id
		LEFT JOIN (SELECT team_id, SUM(student) = COUNT(*) AS student FROM contestants GROUP BY team_id) flags
		  ON flags.team_id = t.id
		WHERE t.withdrawn = 0 ORDER BY latest_score DESC, latest_at, t.id`, team, until, team, until, team, until)
	type row struct {
		standing
		latest, best     sql.NullInt64
		latestAt, bestAt sql.NullTime
	}
	all, err := kit.Collect(rows, err, func(x *row) []any {
		return []any{&x.ID, &x.Name, &x.Student, &x.latest, &x.latestAt, &x.best, &x.bestAt, &x.Finishes}
	})
	if err != nil {
		return nil, err
	}
	rows, err = tx.QueryContext(ctx,
		"SELECT team_id, score_raw - score_deduction, finished_at FROM benchmark_jobs WHERE "+shownJobs+
			" ORDER BY finished_at, id", team, until)
	type mark struct {
		team  int64
		score int64
		at    time.Time
	}
	marks, err := kit.Collect(rows, err, func(m *mark) []any { return []any{&m.team, &m.score, &m.at} })
	if err != nil {
		return nil, err
	}
	if err := tx.Commit(); err != nil {
		return nil, err
	}
	of := map[int64][]score{}
	for _, m := range marks {
		of[m.team] = append(of[m.team], score{m.score, m.at.UnixMilli()})
	}
	var out ranking
	out.Leaderboard.Teams = []standing{}
	for _, x := range all {
		x.Scores = append([]score{}, of[x.ID]...)
		if x.latest.Valid {
			x.Latest = &score{x.latest.Int64, x.latestAt.Time.UnixMilli()}
			x.Best = &score{x.best.Int64, x.bestAt.Time.UnixMilli()}
		}
		out.Leaderboard.Teams = append(out.Leaderboard.Teams, x.standing)
	}
	return encode(&out)
}

func encode(r *ranking) ([]byte, error) {
	var b bytes.Buffer
	err := json.NewEncoder(&b).Encode(r)
	return b.Bytes(), err
}

// lateMembers is how long after the start of the contest teams may still change: requests that came
// before it may wait.
const lateMembers = 5 * time.Second

// lateReports is how long before the last job that is known another one may have been committed: as long as a
// benchmarker waits for the answer to its report.
const lateReports = 10 * time.Second

// A board keeps all finished jobs in memory. Each request reads those that were reported lately: a
// report that was confirmed is in the next answer, whichever process took it.
type board struct {
	mu    sync.Mutex
	teams []keptTeam // by id
	jobs  map[int64]keptJob
	last  time.Time

	whole []byte // the ranking of all jobs; nil: not made yet
}

type keptTeam struct {
	id      int64
	name    string
	student bool
}

type keptJob struct {
	id, team int64
	score    int64
	at       time.Time
}

func (b *board) forget() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.teams, b.jobs, b.last, b.whole = nil, nil, time.Time{}, nil
}

// update reads what is new: jobs, and teams while they may change.
func (b *board) update(ctx context.Context, db *sql.DB, open bool) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.jobs == nil {
		b.jobs, b.last = map[int64]keptJob{}, time.Unix(0, 0).UTC().Add(lateReports)
	}
	if open || b.teams == nil {
		rows, err := db.QueryContext(ctx, "SELECT t.id, t.name, COALESCE(SUM(c.student) = COUNT(*), 0) FROM teams t "+
			"LEFT JOIN contestants c ON c.team_id = t.id WHERE t.withdrawn = 0 GROUP BY t.id, t.name ORDER BY t.id")
		teams, err := kit.Collect(rows, err, func(t *keptTeam) []any { return []any{&t.id, &t.name, &t.student} })
		if err != nil {
			return err
		}
		if !slices.Equal(teams, b.teams) {
			b.teams, b.whole = teams, nil
		}
	}
	rows, err := db.QueryContext(ctx,
		"SELECT id, team_id, score_raw - score_deduction, finished_at FROM benchmark_jobs "+
			"WHERE finished_at >= ?", b.last.Add(-lateReports))
	lately, err := kit.Collect(rows, err, func(j *keptJob) []any { return []any{&j.id, &j.team, &j.score, &j.at} })
	if err != nil {
		return err
	}
	for _, j := range lately {
		if _, known := b.jobs[j.id]; !known {
			b.jobs[j.id], b.whole = j, nil
		}
		if j.at.After(b.last) {
			b.last = j.at
		}
	}
	return nil
}

// render writes the ranking.
func (b *board) render(team int64, until time.Time) ([]byte, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if until.IsZero() && b.whole != nil {
		return b.whole, nil
	}
	body, err := encode(b.rank(team, until))
	if until.IsZero() && err == nil {
		b.whole = body
	}
	return body, err
}

// rank ranks the teams by what is shown.
func (b *board) rank(team int64, until time.Time) *ranking {
	of := map[int64][]keptJob{}
	for _, j := range b.jobs {
		if until.IsZero() || j.team == team || j.at.Before(until) {
			of[j.team] = append(of[j.team], j)
		}
	}
	var out ranking
	out.Leaderboard.Teams = make([]standing, 0, len(b.teams))
	for _, t := range b.teams {
		x := standing{ID: t.id, Name: t.name, Student: t.student, Scores: []score{}}
		jobs := of[t.id]
		slices.SortFunc(jobs, func(a, b keptJob) int { return cmp.Or(a.at.Compare(b.at), cmp.Compare(a.id, b.id)) })
		var latest int64
		for _, j := range jobs {
			one := score{j.score, j.at.UnixMilli()}
			x.Scores = append(x.Scores, one)
			if x.Best == nil || one.Score > x.Best.Score {
				x.Best = &one
			}
			if j.id > latest { // as a team has one job at a time, it finished last
				latest, x.Latest, x.latestAt = j.id, &one, j.at
			}
			x.Finishes++
		}
		out.Leaderboard.Teams = append(out.Leaderboard.Teams, x)
	}
	slices.SortFunc(out.Leaderboard.Teams, func(a, b standing) int {
		switch {
		case a.Latest == nil && b.Latest == nil:
			return cmp.Compare(a.ID, b.ID)
		case a.Latest == nil:
			return 1
		case b.Latest == nil:
			return -1
		}
		return cmp.Or(cmp.Compare(b.Latest.Score, a.Latest.Score), a.latestAt.Compare(b.latestAt), cmp.Compare(a.ID,
			b.ID))
	})
	return &out
}
