package cli

import (
	"github.com/kasoku/kasoku/config"
	"github.com/kasoku/kasoku/internal/private"
)

// ReadConfig reads a kasoku.toml: the one at path or, for an empty path, the one
// here or above; nil without one.
func ReadConfig(path string) (*config.Config, error) {
	if path == "" {
		var ok bool
		if path, ok = config.Find("."); !ok {
			return nil, nil
		}
	}
	c, err := config.Load(path)
	if err != nil {
		return nil, Usage(err, HintOf(err))
	}
	if c.Share {
		private.Share(true)
	}
	return c, nil
}
