package bench

import (
	"context"
	"time"

	"github.com/kasoku/kasoku/labs/contest"
	"github.com/kasoku/kasoku/load/scenario"
	"github.com/kasoku/kasoku/load/scenario/agent"
)

// What a dashboard has.
type (
	score struct {
		Score int64 `json:"score"`
		At    int64 `json:"marked_at"`
	}
	standing struct {
		ID       int64   `json:"id"`
		Name     string  `json:"name"`
		Student  bool    `json:"student"`
		Latest   *score  `json:"latest"`
		Best     *score  `json:"best"`
		Finishes int     `json:"finish_count"`
		Scores   []score `json:"scores"`
	}
	ranking struct {
		Leaderboard struct {
			Teams []standing `json:"teams"`
		} `json:"leaderboard"`
	}
)

// lookAsAudience looks at the audience's dashboard, which may be a second old.
func (r *run) lookAsAudience(ctx context.Context, u *contest.User) error {
	return r.look(ctx, u, "/api/audience/dashboard", 0, mayBeOld)
}

// look looks at a dashboard as a team sees it, 0 for the audience, and checks it.
func (r *run) look(ctx context.Context, u *contest.User, path string, own int64, old time.Duration) error {
	asked := time.Now()
	var got ranking
	req := &agent.Request{Step: "GET " + path, Path: path, Timeout: dashboardWithin}
	if err := u.JSON(ctx, req, &got); err != nil {
		return err
	}
	return r.check(req.Step, &got, own, asked, asked.Add(-old), time.Now())
}

// check holds a ranking that was asked for at a time and came at another against what was reported;
// it has to hold all that was confirmed by then.
func (r *run) check(step string, got *ranking, own int64, asked, by, came time.Time) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	seen := map[int64]bool{}
	for i := range got.Leaderboard.Teams {
		s := &got.Leaderboard.Teams[i]
		t := r.byID[s.ID]
		if t == nil || seen[s.ID] {
			if t == nil && r.registering > 0 { // its answer is under way
				continue
			}
			return scenario.Errorf(contest.Wrong, "%s: team %d is none, or is there twice", step, s.ID)
		}
		seen[s.ID] = true
		if err := r.checkTeam(step, t, s, own, asked, by, came); err != nil {
			return err
		}
		if i > 0 && !inOrder(&got.Leaderboard.Teams[i-1], s) {
			return scenario.Errorf(contest.Wrong, "%s: the ranking is out of order", step)
		}
	}
	for _, t := range r.teams {
		if !seen[t.id] && t.made.Before(by) {
			return scenario.Errorf(Stale, "%s: a team that registered before is not there", step)
		}
	}
	return nil
}

// checkTeam checks a team's line.
func (r *run) checkTeam(step string, t *team, s *standing, own int64, asked, by, came time.Time) error {
	if t.unsure {
		return nil // one of its reports was not answered
	}
	frozen := s.ID != own && asked.After(r.freeze) && came.Before(r.end)
	least, most := 0, 0
	for _, j := range t.jobs {
		if !j.confirmed.IsZero() && j.confirmed.Before(by) && (!r.mayHide(asked, came,
			s.ID == own) || j.confirmed.Before(r.freeze)) {
			least++
		}
		if j.reported.Before(came) && (!frozen || j.reported.Before(r.freeze)) {
			most++
		}
	}
	n := len(s.Scores)
	switch {
	case n < least:
		return scenario.Errorf(Stale, "%s: %d results of a team, %d were confirmed before", step, n, least)
	case n > most && frozen:
		return scenario.Errorf(contest.Wrong, "%s: a result of after the freeze is shown", step)
	case n > most || n != s.Finishes:
		return scenario.Errorf(contest.Wrong, "%s: %d results of a team and a count of %d, there are %d", step, n,
			s.Finishes, most)
	case s.Name != t.name:
		return scenario.Errorf(contest.Wrong, "%s: a team has another name", step)
	case t.made.Before(by) && s.Student != t.ofStudents():
		return scenario.Errorf(contest.Wrong, "%s: a team of students is none, or another one is", step)
	}
	var best int64
	for i, one := range s.Scores {
		if one.Score != t.jobs[i].score {
			return scenario.Errorf(contest.Wrong, "%s: a result that was not reported, or out of order", step)
		}
		best = max(best, one.Score)
	}
	if (n == 0) != (s.Latest == nil) || (n == 0) != (s.Best == nil) || n > 0 && (s.Latest.Score != s.Scores[n-1].Score || s.Best.Score != best) {
		return scenario.Errorf(contest.Wrong, "%s: the latest or the best result of a team is another", step)
	}
	return nil
}

// mayHide reports whether an answer may lack what others scored after the freeze.
func (r *run) mayHide(asked, came time.Time, own bool) bool {
	return !own && came.After(r.freeze) && asked.Add(-mayBeOld).Before(r.end)
}

// inOrder reports whether one may stand before another: the latest result decides, and then who had
// it first.
func inOrder(a, b *standing) bool {
	switch {
	case b.Latest == nil:
		return true
	case a.Latest == nil:
		return false
	}
	return a.Latest.Score > b.Latest.Score || a.Latest.Score == b.Latest.Score && a.Latest.At <= b.Latest.At
}
