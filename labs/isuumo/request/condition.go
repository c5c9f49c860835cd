package request

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"github.com/kasoku/kasoku/labs/isuumo"
)

// Conditions are what can be searched for.
type Conditions struct {
	Chair  isuumo.ChairCondition
	Estate isuumo.EstateCondition
}

// ReadConditions reads chair_condition.json and estate_condition.json of a directory.
func ReadConditions(dir string) (*Conditions, error) {
	var c Conditions
	for name, into := range map[string]any{"chair_condition.json": &c.Chair, "estate_condition.json": &c.Estate} {
		path := filepath.Join(dir, name)
		b, err := os.ReadFile(path)
		if err != nil {
			return nil, fmt.Errorf("read conditions: %w", err)
		}
		if err := json.Unmarshal(b, into); err != nil {
			return nil, fmt.Errorf("read conditions: %s: %w", path, err)
		}
	}
	return &c, nil
}
