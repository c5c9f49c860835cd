package bench

import (
	"context"
	"time"

	"github.com/kasoku/kasoku/labs/contest"
	"github.com/kasoku/kasoku/load/scenario"
)

// The paths of the queue server.
const (
	receivePath = "/xsuportal.proto.services.bench.BenchmarkQueue/ReceiveBenchmarkJob"
	reportPath  = "/xsuportal.proto.services.bench.BenchmarkReport/ReportBenchmarkResult"
)

// benchmark is a virtual benchmarker: it asks for a job, again at once when there is none.
func (t *team) benchmark(ctx context.Context, step *scenario.Step) error {
	u, err := t.user(step, "")
	if err != nil {
		return err
	}
	defer u.Close()
	return repeat(ctx, step, 0, func() error { return t.work(ctx, u) })
}

// work asks for a job, and does it when there is one.
func (t *team) work(ctx context.Context, u *contest.User) error {
	var got struct {
		ID     int64  `json:"job_id"`
		Target string `json:"target_hostname"`
	}
	req := post(receivePath, struct{}{})
	req.Step = "POST ReceiveBenchmarkJob"
	if err := u.JSON(ctx, req, &got); err != nil || got.ID == 0 {
		return err
	}
	of := t.take(got.ID, got.Target)
	if of == nil {
		return scenario.Errorf(Twice, "%s: a job that was given out before, or that no team asked for", req.Step)
	}
	if err := t.report(ctx, u, map[string]any{"job_id": got.ID, "finished": false}); err != nil {
		return err
	}
	if err := pause(ctx, jobTakes); err != nil {
		return err
	}
	raw := 1000 + got.ID*7919%9000 // as good as random, and known to both
	const deduction = 10
	n := of.reports(result{id: got.ID, score: raw - deduction, reported: time.Now()})
	err := t.report(ctx, u, map[string]any{"job_id": got.ID, "finished": true, "score_raw": raw,
		"score_deduction": deduction})
	of.reported(n, err)
	return err
}

// take returns the team of a job that no benchmarker had; nil of another.
func (r *run) take(id int64, target string) *team {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.given[id] {
		return nil
	}
	r.given[id] = true
	for _, t := range r.teams {
		if t.target() == target {
			return t
		}
	}
	return nil
}

func (t *team) report(ctx context.Context, u *contest.User, body any) error {
	req := post(reportPath, body)
	req.Step = "POST ReportBenchmarkResult"
	return u.JSON(ctx, req, &struct{}{})
}

// reports takes note of a result that is reported now, and returns its place.
func (t *team) reports(x result) int {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.jobs = append(t.jobs, x)
	return len(t.jobs) - 1
}

// reported takes note of whether a report was confirmed.
func (t *team) reported(n int, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if err != nil {
		t.unsure = true
		return
	}
	t.jobs[n].confirmed = time.Now()
}
