package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"
	"time"
)

// plainLoad is the closed loop that one would write by hand with net/http: so
// many goroutines, each asking for the URL again and again until ctx ends.
func plainLoad(ctx context.Context, url string, conns int) error {
	c := http.Client{Timeout: 30 * time.Second, Transport: &http.Transport{MaxIdleConnsPerHost: conns}}
	defer c.CloseIdleConnections()
	errs := make([]error, conns)
	var wg sync.WaitGroup
	for i := range conns {
		wg.Go(func() {
			for ctx.Err() == nil && errs[i] == nil {
				errs[i] = getOnce(&c, url)
			}
		})
	}
	wg.Wait()
	return errors.Join(errs...)
}

func getOnce(c *http.Client, url string) error {
	resp, err := c.Get(url)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if _, err := io.Copy(io.Discard, resp.Body); err != nil {
		return err
	}
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("get %s: %s", url, resp.Status)
	}
	return nil
}
