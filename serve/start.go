package serve

import (
	"context"
	"errors"
	"net/http"
	"strings"

	"github.com/kasoku/kasoku/internal/contain"
)

// A Starter begins runs of what its owner has configured, one at a time.
type Starter interface {
	// Start begins a run; it fails with [ErrBusy] while one goes on.
	Start(label, note string) error
	// Stop ends it as Ctrl-C does: what was measured stays. It does nothing when none goes on.
	Stop()
	// Wait waits until none goes on.
	Wait()
	// State says whether one goes on, and how the last one ended; empty when it ended well.
	State() (busy bool, ended string)
}

// ErrBusy is of a second run while one goes on.
var ErrBusy = errors.New("a run that this page began goes on")

// startable refuses what this server does not allow, and what another site's page sends by a GET, which the check of
// origins lets through: the address of a webhook is one.
func (a api) startable(r *http.Request) error {
	if a.Starter == nil {
		return errForbidden
	}
	if site := r.Header.Get("Sec-Fetch-Site"); site != "" && site != "same-origin" && site != "none" {
		return errForbidden
	}
	return nil
}

// postStart begins a run.
func (a api) postStart(w http.ResponseWriter, r *http.Request) error {
	if err := a.startable(r); err != nil {
		return err
	}
	if err := r.ParseForm(); err != nil {
		return &askedError{"what was sent is no form", ""}
	}
	label := strings.TrimSpace(r.PostForm.Get("label"))
	if strings.HasPrefix(label, "-") || strings.ContainsAny(label, "/\x00") {
		return &askedError{"a label does not begin with - and has no /", ""}
	}
	if err := a.Starter.Start(label, strings.TrimSpace(r.PostForm.Get("note"))); err != nil {
		return err
	}
	w.WriteHeader(http.StatusAccepted)
	return nil
}

// postStop ends the run that this page began.
func (a api) postStop(w http.ResponseWriter, r *http.Request) error {
	if err := a.startable(r); err != nil {
		return err
	}
	a.Starter.Stop()
	w.WriteHeader(http.StatusAccepted)
	return nil
}

// collect is what benchmarks and hooks call that were made for pprotein: it begins a run.
func (a api) collect(w http.ResponseWriter, r *http.Request) error {
	if err := a.startable(r); err != nil {
		return err
	}
	if err := a.Starter.Start("", "by /api/group/collect"); err != nil {
		return err
	}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	_, _ = w.Write([]byte("ok\n"))
	return nil
}

// stopAtEnd ends a run that goes on when the server ends.
func (s *Server) stopAtEnd(ctx context.Context) {
	if s.Starter != nil {
		context.AfterFunc(ctx, contain.Func(contain.Part{Kind: contain.Step, Name: "end of the page's run"},
			s.Starter.Stop))
	}
}
