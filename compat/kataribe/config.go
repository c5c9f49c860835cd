package kataribe

import (
	"fmt"
	"math"
	"regexp"

	"github.com/BurntSushi/toml"

	"github.com/kasoku/kasoku/logs/patterns"
	"github.com/kasoku/kasoku/logs/routes"
)

// config is kataribe.toml. A key that it lacks is zero, as in kataribe.
type config struct {
	RankingCount   int       `toml:"ranking_count"`
	SlowCount      int       `toml:"slow_count"`
	ShowStdDev     bool      `toml:"show_stddev"`
	ShowStatusCode bool      `toml:"show_status_code"`
	ShowBytes      bool      `toml:"show_bytes"`
	Percentiles    []float64 `toml:"percentiles"`
	Scale          int       `toml:"scale"`           // a duration is its text times 10^scale
	EffectiveDigit int       `toml:"effective_digit"` // decimals of durations; means have one more
	LogFormat      string    `toml:"log_format"`

	// Groups of LogFormat; 0 is the whole match.
	RequestIndex  int `toml:"request_index"`
	StatusIndex   int `toml:"status_index"`
	BytesIndex    int `toml:"bytes_index"`
	DurationIndex int `toml:"duration_index"`

	Bundle  []bundle          `toml:"bundle"`
	Bundles map[string]bundle `toml:"bundles"` // the old way to write them
	Replace []replace         `toml:"replace"`
}

type bundle struct {
	Regexp string `toml:"regexp"`
	Name   string `toml:"name"`
}

type replace struct {
	Regexp  string `toml:"regexp"`
	Replace string `toml:"replace"`
}

// A plan is a configuration that is ready to be followed. It does not change.
type plan struct {
	config
	factor  float64 // 10^scale
	line    *patterns.Finder
	bundles *patterns.Set // nil: there are none
	names   []string      // of the bundles, replaces done
	changes []change
}

// A change is one replace.
type change struct {
	match *patterns.Set // whether re matches, asked first because it is quick
	re    *regexp.Regexp
	by    []byte
}

// loadPlan reads a configuration file.
func loadPlan(path string) (*plan, error) {
	c, err := decodeConfig(path)
	if err != nil {
		return nil, err
	}
	p, err := c.plan()
	if err != nil {
		return nil, fmt.Errorf("read configuration %s: %w", path, err)
	}
	return p, nil
}

// decodeConfig reads a configuration file, whose bundles and replaces are in its order.
func decodeConfig(path string) (c config, err error) {
	meta, err := toml.DecodeFile(path, &c)
	if err != nil {
		return c, fmt.Errorf("read configuration: %w", err)
	}
	for _, key := range meta.Keys() { // in the order of the file
		if len(key) == 2 && key[0] == "bundles" {
			c.Bundle = append(c.Bundle, c.Bundles[key[1]])
		}
	}
	return c, nil
}

// Routes returns the bundles and the replaces of a configuration file, in its
// order, for those who want nothing else of it.
func Routes(path string) (bundles []routes.Bundle, replaces []routes.Replace, err error) {
	c, err := decodeConfig(path)
	if err != nil {
		return nil, nil, err
	}
	for _, b := range c.Bundle {
		bundles = append(bundles, routes.Bundle{Name: b.Name, Expr: b.Regexp})
	}
	for _, r := range c.Replace {
		replaces = append(replaces, routes.Replace{Expr: r.Regexp, With: r.Replace})
	}
	return bundles, replaces, nil
}

func (c config) plan() (*plan, error) {
	c.EffectiveDigit = max(c.EffectiveDigit, 0)
	p := &plan{config: c, factor: math.Pow10(c.Scale)}
	var err error
	if p.line, err = patterns.CompileFinder(c.LogFormat); err != nil {
		return nil, fmt.Errorf("log_format: %w", err)
	}
	if err := c.checkGroups(p.line.Groups()); err != nil {
		return nil, err
	}
	for _, r := range c.Replace {
		ch := change{by: []byte(r.Replace)}
		if ch.match, err = patterns.Compile([]string{r.Regexp}); err != nil {
			return nil, fmt.Errorf("replace: %w", err)
		}
		if ch.re, err = regexp.Compile(r.Regexp); err != nil {
			return nil, fmt.Errorf("replace: %w", err)
		}
		p.changes = append(p.changes, ch)
	}
	return p, p.planBundles()
}

// planBundles reads the bundles; what they are called is known once and for all.
func (p *plan) planBundles() error {
	var exprs []string
	c := p.newChanger()
	for _, b := range p.Bundle {
		name := b.Name
		if name == "" {
			name = b.Regexp
		}
		exprs = append(exprs, b.Regexp)
		p.names = append(p.names, string(c.change([]byte(name))))
	}
	if len(exprs) == 0 {
		return nil
	}
	var err error
	if p.bundles, err = patterns.Compile(exprs); err != nil {
		return fmt.Errorf("bundle: %w", err)
	}
	return nil
}

func (c *config) checkGroups(have int) error {
	for _, g := range []struct {
		key   string
		index int
	}{
		{"request_index", c.RequestIndex}, {"status_index", c.StatusIndex},
		{"bytes_index", c.BytesIndex}, {"duration_index", c.DurationIndex},
	} {
		if g.index < 0 || g.index > have {
			return fmt.Errorf("%s is %d, log_format has %d groups", g.key, g.index, have)
		}
	}
	return nil
}

// A changer does the replaces of a plan, one after another. It is for one
// goroutine.
type changer struct {
	plan  *plan
	match []*patterns.Matcher
}

func (p *plan) newChanger() changer {
	c := changer{plan: p}
	for _, ch := range p.changes {
		c.match = append(c.match, ch.match.Matcher())
	}
	return c
}

func (c *changer) change(request []byte) []byte {
	for i, m := range c.match {
		if m.First(request) >= 0 {
			request = c.plan.changes[i].re.ReplaceAll(request, c.plan.changes[i].by)
		}
	}
	return request
}
