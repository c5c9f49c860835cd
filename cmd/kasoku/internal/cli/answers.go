package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"

	"github.com/kasoku/kasoku"
	"github.com/kasoku/kasoku/config"
	"github.com/kasoku/kasoku/load"
	"github.com/kasoku/kasoku/prove/answers"
)

// HeldAnswers returns the answers of kasoku.toml that a change must not alter; nil where
// it names none.
func HeldAnswers() (*answers.Held, error) {
	c, err := ReadConfig("")
	if err != nil || c == nil || c.Answers.File == "" && len(c.Answers.Requests) == 0 {
		return nil, err
	}
	held := &answers.Held{Asker: answers.Asker{Permit: load.Permit{Hosts: c.Load.Allow}}}
	if c.Answers.File != "" {
		golden, err := ReadGolden(c.Answers.File)
		if err != nil {
			return nil, Usage(err, "`kasoku answers record` makes it; or name requests in [answers]")
		}
		held.Requests = golden.Requests()
		return held, nil
	}
	for _, text := range c.Answers.Requests {
		r, err := answers.ParseRequest(text)
		if err != nil {
			return nil, err
		}
		held.Requests = append(held.Requests, r)
	}
	return held, nil
}

// answersWithin bounds what is asked at the end of a run.
const answersWithin = 30 * time.Second

// ComparedAnswers returns what compares the service's answers with the golden ones that a
// kasoku.toml names; nil where it names no file of them, or none is there yet.
func ComparedAnswers(c *config.Config) (func(context.Context) (kasoku.ComparedAnswers, error), error) {
	if c == nil || c.Answers.File == "" {
		return nil, nil
	}
	golden, err := ReadGolden(c.Answers.File)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, Usage(err, "`kasoku answers record` makes it anew")
	}
	return func(ctx context.Context) (kasoku.ComparedAnswers, error) {
		ctx, cancel := context.WithTimeout(ctx, answersWithin)
		defer cancel()
		asker := answers.Asker{Permit: load.Permit{Hosts: c.Load.Allow}}
		defer asker.Close()
		got, err := asker.Check(ctx, golden)
		if got == nil {
			return kasoku.ComparedAnswers{}, err
		}
		return got.Compared(), err
	}, nil
}

// ReadGolden reads a file of golden answers.
func ReadGolden(path string) (*answers.Golden, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, answers.MaxFile+1))
	if err != nil {
		return nil, err
	}
	golden, err := answers.Parse(text)
	if err != nil {
		return nil, fmt.Errorf("golden answers %s: %w", path, err)
	}
	return golden, nil
}
