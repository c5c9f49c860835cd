// Package bench is the benchmark of isucholar, with the points of the contest: 3 for each file
// that is handed in. One point for each list of announcements is left out, for the lab has none.
//
//	a wrong status, a wrong answer: −50, and more than a hundred end the run
//	a hundred timeouts, of 5 s: −100
//
// Each course goes on as fast as the service lets it: students hand in, the teacher takes all
// files as an archive and enters scores, students look at their grades and register for more;
// then the next part begins. With the points come courses, which share five classes, so that
// the exports of one meet the submissions of another.
//
// Start at [Run].
package bench

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"time"

	"github.com/kasoku/kasoku/labs/contest"
	"github.com/kasoku/kasoku/load/scenario"
	"github.com/kasoku/kasoku/load/scenario/agent"
)

// What there is.
const (
	classes  = 5
	handing  = 30  // students who hand in, of each class
	group    = 10  // of these, in a course
	marked   = 110 // students whose scores come at once
	fileSize = 40 << 10

	atFirst  = 2 // courses
	courses  = 40
	perLevel = 150 // points

	answerWithin = 5 * time.Second
	tagHandedIn  = "submission"
	mayDiffer    = 0.01 // of grade points
)

// rules are those of the contest.
func rules() scenario.Options {
	levels := make([]int64, courses-atFirst)
	for i := range levels {
		levels[i] = int64(1+i) * perLevel
	}
	return scenario.Options{
		Levels: levels,
		Scoring: scenario.Scoring{
			Points: map[scenario.Tag]int64{tagHandedIn: 3},
			Deduct: map[scenario.Code]int64{scenario.Application: 50, contest.Wrong: 50, scenario.Timeout: 100},
			Every:  map[scenario.Code]uint64{scenario.Timeout: 100},
			Limit:  map[scenario.Code]int{scenario.Critical: 1, scenario.Application: 101, contest.Wrong: 101},
		},
	}
}

// Run runs the benchmark.
func Run(ctx context.Context, o *contest.Options) (*scenario.Result, error) {
	return contest.Run(ctx, o, rules(), &run{o})
}

type run struct{ o *contest.Options }

// A course is taught.
type course struct {
	*contest.User
	*run
	step    *scenario.Step
	class   int
	first   int // of its students
	rounds  int
	members []*contest.User
}

func (r *run) newCourse(step *scenario.Step, number int) (*course, error) {
	c := &course{run: r, step: step, class: 1 + number%classes, first: 1 + number*group%handing}
	var err error
	if c.User, err = contest.NewUser(r.o, step, "user=1", answerWithin); err != nil {
		return nil, err
	}
	for i := range group {
		u, err := contest.NewUser(r.o, step, "user="+strconv.Itoa(c.first+i), answerWithin)
		if err != nil {
			return nil, err
		}
		c.members = append(c.members, u)
	}
	return c, nil
}

func (c *course) close() {
	for _, u := range append(c.members, c.User) {
		u.Close()
	}
}

// Prepare has all students hand in for each class, so that there is something to export.
func (r *run) Prepare(ctx context.Context, step *scenario.Step) error {
	return contest.Together(classes*handing/group, func(i int) error {
		c, err := r.newCourse(step, 0)
		if err != nil {
			return err
		}
		defer c.close()
		c.class, c.first = 1+i%classes, 1+i/classes*group
		for k := range group {
			u, err := contest.NewUser(r.o, step, "user="+strconv.Itoa(c.first+k), answerWithin)
			if err == nil {
				err = c.handIn(ctx, u, c.first+k)
				u.Close()
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// Load has courses go on until the time is over.
func (r *run) Load(ctx context.Context, step *scenario.Step) error {
	step.Workers(ctx, scenario.Workers{
		Name: "course", Count: func(level int) int { return min(atFirst+level, courses) }, Rest: -1,
		Begin: func(_ context.Context, w *scenario.Worker) (err error) {
			w.Data, err = r.newCourse(step, w.Number)
			return err
		},
		Do: func(ctx context.Context, w *scenario.Worker) error {
			if err := w.Sleep(ctx, w.Between(50*time.Millisecond, 150*time.Millisecond)); err != nil {
				return err
			}
			return w.Data.(*course).part(ctx)
		},
		End: func(w *scenario.Worker) { w.Data.(*course).close() },
	})
	return nil
}

// part is one part of a course. What goes wrong with one student keeps no other from going on.
func (c *course) part(ctx context.Context) error {
	c.rounds++
	each := func(do func(u *contest.User, i int) error) {
		_ = contest.Together(group, func(i int) error { // each error counts by itself
			err := do(c.members[i], i)
			c.step.Fail(err)
			return err
		})
	}
	each(func(u *contest.User, i int) error {
		err := c.handIn(ctx, u, c.first+i)
		if err == nil {
			c.step.Score(tagHandedIn)
		}
		return err
	})
	c.step.Fail(c.export(ctx))
	c.step.Fail(c.enterScores(ctx))
	each(func(u *contest.User, i int) error {
		switch {
		case i%5 == 0:
			return grades(ctx, u)
		case i%5 == 1:
			return register(ctx, u)
		}
		return registered(ctx, u)
	})
	return ctx.Err()
}

func (c *course) path() string { return fmt.Sprintf("/api/courses/1/classes/%d/assignments", c.class) }

const assignments = "/api/courses/:id/classes/:id/assignments"

// fileOf is what a student hands in, always.
func fileOf(student int) []byte {
	b := make([]byte, fileSize)
	x := uint32(student)*7919 + 1
	for i := range b {
		x = x*1664525 + 1013904223
		b[i] = "the quick brown fox"[(x>>16)%19]
	}
	return b
}

func nameOf(student int) string { return strconv.Itoa(student) + ".pdf" }

func (c *course) handIn(ctx context.Context, u *contest.User, student int) error {
	kind, body, err := agent.Form(agent.File{Field: "file", Name: "a.pdf",
		ContentType: "application/pdf", Data: fileOf(student)})
	if err != nil {
		return scenario.Fail(scenario.Internal, err)
	}
	var got struct {
		File string `json:"file"`
	}
	err = u.JSON(ctx, &agent.Request{Step: "POST " + assignments, Method: http.MethodPost, Path: c.path(),
		ContentType: kind, Body: body}, &got)
	if err == nil && got.File != nameOf(student) {
		err = scenario.Errorf(contest.Wrong, "POST %s: %q of student %d", assignments, got.File, student)
	}
	return err
}

// export takes the files of all as an archive, which has to hold what was handed in.
func (c *course) export(ctx context.Context) error {
	r := &agent.Request{Step: "POST " + assignments + "/export", Method: http.MethodPost, Path: c.path() + "/export"}
	return c.Ask(ctx, r, http.StatusOK, func(body []byte) error {
		z, err := zip.NewReader(bytes.NewReader(body), int64(len(body)))
		if err != nil {
			return err
		}
		f, err := z.Open(nameOf(c.first + c.rounds%group))
		if err != nil {
			return err
		}
		got, err := io.ReadAll(io.LimitReader(f, 2*fileSize))
		err = errors.Join(err, f.Close())
		if err == nil && !bytes.Equal(got, fileOf(c.first+c.rounds%group)) {
			err = errors.New("a file is not as it was handed in")
		}
		if err == nil && len(z.File) != handing {
			err = fmt.Errorf("%d files of %d students", len(z.File), handing)
		}
		return err
	})
}

// enterScores enters those of most students, from the first or from the last.
func (c *course) enterScores(ctx context.Context) error {
	type score struct {
		User  int `json:"user"`
		Score int `json:"score"`
	}
	all := make([]score, marked)
	for i := range all {
		all[i] = score{1 + i, 20 + (i+c.rounds)%80}
		if c.rounds%2 == 1 {
			all[i].User = marked - i
		}
	}
	body, err := json.Marshal(all)
	if err != nil {
		return scenario.Fail(scenario.Internal, err)
	}
	var got struct {
		Scores int `json:"scores"`
	}
	r := &agent.Request{Step: "PUT " + assignments + "/scores", Method: http.MethodPut, Path: c.path() + "/scores",
		ContentType: "application/json", Body: body}
	if err := c.JSON(ctx, r, &got); err != nil {
		return err
	}
	if got.Scores != marked {
		return scenario.Errorf(contest.Wrong, "%s: %d scores of %d", r.Step, got.Scores, marked)
	}
	return nil
}

// A class as it is shown to a student.
type class struct {
	ID    int64  `json:"id"`
	Part  int64  `json:"part"`
	Score *int64 `json:"score"`
}

type shown struct {
	ID      int64   `json:"id"`
	Name    string  `json:"name"`
	Credit  int64   `json:"credit"`
	Classes []class `json:"classes"`
}

func grades(ctx context.Context, u *contest.User) error {
	var got struct {
		Courses []shown `json:"courses"`
		Summary struct {
			GPA     float64 `json:"gpa"`
			TScore  float64 `json:"gpa_t_score"`
			Average float64 `json:"gpa_avg"`
			Least   float64 `json:"gpa_min"`
			Most    float64 `json:"gpa_max"`
		} `json:"summary"`
	}
	r := &agent.Request{Step: "GET /api/users/me/grades", Path: "/api/users/me/grades"}
	if err := u.JSON(ctx, r, &got); err != nil {
		return err
	}
	s := &got.Summary
	switch {
	case len(got.Courses) == 0:
		return scenario.Errorf(contest.Wrong, "%s: no courses", r.Step)
	case s.Least > s.Average+mayDiffer || s.Average > s.Most+mayDiffer:
		return scenario.Errorf(contest.Wrong, "%s: an average of %.2f between %.2f and %.2f",
			r.Step, s.Average, s.Least, s.Most)
	case s.GPA < s.Least-mayDiffer || s.GPA > s.Most+mayDiffer:
		return scenario.Errorf(contest.Wrong, "%s: %.2f, of %.2f to %.2f", r.Step, s.GPA, s.Least, s.Most)
	case (s.TScore-50)*(s.GPA-s.Average) < -mayDiffer:
		return scenario.Errorf(contest.Wrong, "%s: %.2f has a T-score of %.1f, the average is %.2f", r.Step, s.GPA, s.TScore,
			s.Average)
	}
	for i := range got.Courses {
		for k := range got.Courses[i].Classes {
			if v := got.Courses[i].Classes[k].Score; v != nil && (*v < 0 || *v > 100) {
				return scenario.Errorf(contest.Wrong, "%s: a score of %d", r.Step, *v)
			}
		}
	}
	return nil
}

func registered(ctx context.Context, u *contest.User) error {
	var got []shown
	r := &agent.Request{Step: "GET /api/users/me/courses", Path: "/api/users/me/courses"}
	if err := u.JSON(ctx, r, &got); err != nil {
		return err
	}
	for i := range got {
		if i > 0 && got[i].ID <= got[i-1].ID {
			return scenario.Errorf(contest.Wrong, "%s: out of order", r.Step)
		}
	}
	return nil
}

func register(ctx context.Context, u *contest.User) error {
	r := &agent.Request{Step: "PUT /api/users/me/courses", Method: http.MethodPut, Path: "/api/users/me/courses",
		ContentType: "application/json", Body: []byte(`[20,21,22]`)}
	return u.Ask(ctx, r, http.StatusOK, nil)
}
