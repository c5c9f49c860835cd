package bench

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/kasoku/kasoku/labs/contest"
	"github.com/kasoku/kasoku/load/scenario"
	"github.com/kasoku/kasoku/load/scenario/agent"
)

// A viewer looks at the trend.
type viewer struct {
	*run
	*contest.User
}

// look loads the page, with its files unless the browser has them, and the trend.
func (v *viewer) look(ctx context.Context) error {
	if err := v.page(ctx); err != nil {
		return err
	}
	want := v.acks.until(time.Now().Add(-mayBeOld))
	got, err := v.trend(ctx)
	if err == nil && got < want {
		err = scenario.Errorf(Stale, "GET /api/trend: more than %s old", mayBeOld)
	}
	return err
}

// page loads the page.
func (v *viewer) page(ctx context.Context) error { return loadPage(ctx, v.User) }

func loadPage(ctx context.Context, u *contest.User) error {
	files := []string{"/", "/assets/app.js", "/assets/style.css"}
	return contest.Together(len(files), func(i int) error {
		return u.Ask(ctx, &agent.Request{Step: "GET " + files[i], Path: files[i]}, http.StatusOK, func(b []byte) error {
			if len(b) == 0 {
				return fmt.Errorf("nothing")
			}
			return nil
		})
	})
}

// trend returns how many reports are counted in it.
func (v *viewer) trend(ctx context.Context) (int, error) {
	var got struct {
		Reports int `json:"reports"`
		Natures []struct {
			Nature   string `json:"nature"`
			Reported int    `json:"reported"`
			Well     int    `json:"well"`
		} `json:"natures"`
	}
	r := &agent.Request{Step: "GET /api/trend", Path: "/api/trend"}
	if err := v.JSON(ctx, r, &got); err != nil {
		return 0, err
	}
	for i, n := range got.Natures {
		if n.Well < 0 || n.Well > n.Reported || i > 0 && n.Nature <= got.Natures[i-1].Nature {
			return 0, scenario.Errorf(contest.Wrong, "%s: nature %q: %d of %d, or out of order",
				r.Step, n.Nature, n.Well, n.Reported)
		}
	}
	if len(got.Natures) == 0 {
		return 0, scenario.Errorf(contest.Wrong, "%s: no natures", r.Step)
	}
	return got.Reports, nil
}
