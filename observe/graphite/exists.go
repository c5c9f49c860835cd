package graphite

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/kasoku/kasoku/wire/whisper"
)

// MostAsked is how many series a cache is asked for at once whether they exist: carbon-cache
// writes some lines into its log for each that does not.
const MostAsked = 20

// Kept is what became of series that were sent.
type Kept struct {
	Asked   int // series
	Exist   int // that have a file
	Waiting int // that have none yet, and points in the cache
	All     bool
}

// Missing is how many of the asked series neither exist nor wait: their points are gone.
func (k Kept) Missing() int { return k.Asked - k.Exist - k.Waiting }

// KeptByCache asks a carbon-cache for up to [MostAsked] of the series, evenly chosen, whether
// they have a file, at the port where it returns what it holds. go-carbon and relays do not
// know the question: an error.
//
// Source: carbon/protocols.py, CacheManagementHandler, get-metadata.
func KeptByCache(ctx context.Context, addr string, series []string) (Kept, error) {
	c, err := Dial(ctx, addr)
	if err != nil {
		return Kept{}, err
	}
	defer func() { _ = c.Close() }() // it was only asked
	k := Kept{Asked: min(len(series), MostAsked), All: len(series) <= MostAsked}
	for i := range k.Asked {
		name := series[i*len(series)/k.Asked]
		held, err := c.Query(ctx, name)
		if err != nil {
			return Kept{}, err
		}
		exists, err := c.exists(ctx, name)
		switch {
		case err != nil:
			return Kept{}, err
		case exists:
			k.Exist++
		case len(held[0]) > 0:
			k.Waiting++
		}
	}
	return k, nil
}

// KeptByFiles counts the series that have a file below the directory.
func KeptByFiles(storage string, series []string) (Kept, error) {
	if _, err := os.Stat(storage); err != nil {
		return Kept{}, err
	}
	k := Kept{Asked: len(series), All: true}
	for _, name := range series {
		if info, err := os.Stat(filepath.Join(storage, whisper.Path(name))); err == nil && info.Mode().IsRegular() {
			k.Exist++
		}
	}
	return k, nil
}

// exists reports whether a series has a file.
func (c *Conn) exists(ctx context.Context, metric string) (bool, error) {
	if ctx.Err() != nil {
		return false, ctx.Err()
	}
	answer, err := c.ask(ctx, appendRequest(nil, "type", "get-metadata", "metric", metric, "key", "aggregationMethod"))
	if err != nil {
		return false, fmt.Errorf("carbon's cache: %w", err)
	}
	return parseMetadata(answer)
}

// parseMetadata reads the answer to get-metadata: a value, or why there is none.
func parseMetadata(b []byte) (exists bool, err error) {
	d, err := parseDict(b)
	if err != nil {
		return false, err
	}
	if _, ok := d["value"]; ok {
		return true, nil
	}
	if text, ok := d["error"].(string); ok {
		if strings.Contains(text, "No such file") || strings.Contains(text,
			"'NoneType'") { // whisper.info has nothing of it
			return false, nil
		}
		lines := strings.Split(strings.TrimSpace(text), "\n")
		return false, fmt.Errorf("it answers %.100q", lines[len(lines)-1])
	}
	return false, errors.New("answer in pickle: neither value nor error")
}

// appendRequest appends a request of names and values, with its length before it.
func appendRequest(dst []byte, all ...string) []byte {
	at := len(dst)
	dst = append(dst, 0, 0, 0, 0)
	dst = append(dst, 0x80, 2, '}', '(')
	for _, s := range all {
		dst = append(dst, 'X')
		dst = binary.LittleEndian.AppendUint32(dst, uint32(len(s)))
		dst = append(dst, s...)
	}
	dst = append(dst, 'u', '.')
	binary.BigEndian.PutUint32(dst[at:], uint32(len(dst)-at-4))
	return dst
}
