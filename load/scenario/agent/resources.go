package agent

import (
	"bytes"
	"context"
	"net/url"
	"slices"
	"strings"
	"sync"

	"golang.org/x/net/html"

	"github.com/kasoku/kasoku/internal/contain"
)

// A Resource is what a page refers to: a stylesheet, an icon, a script or a
// picture.
type Resource struct {
	URL      string
	Response *Response // nil with Err
	Err      error     // as of [Agent.Do]
}

const (
	// maxResources bounds what is fetched for one page: a hostile one may name
	// millions.
	maxResources = 256

	// resourcesAtOnce is how many are fetched at the same time: a browser has six
	// connections to a host.
	resourcesAtOnce = 6
)

// SubResources fetches what an HTML page refers to and a browser would load at
// once: stylesheets and icons of link, script with src, and img with src unless
// it is lazy; each once, at most 256. Those of another origin are left out unless
// [Options.OtherOrigins] says so. It returns when all are there, in the order of
// the page.
func (a *Agent) SubResources(ctx context.Context, page *Response) []Resource {
	out := a.references(page)
	var wg sync.WaitGroup
	next := make(chan *Resource)
	for range min(len(out), resourcesAtOnce, a.opts.MaxConns) {
		wg.Go(func() {
			for r := range next {
				r.Err = contain.Do(contain.Part{Kind: contain.Engine, Name: "resources of a page"}, func() (err error) {
					r.Response, err = a.Do(ctx, &Request{Path: r.URL})
					return err
				})
			}
		})
	}
	for i := range out {
		next <- &out[i]
	}
	close(next)
	wg.Wait()
	return out
}

// references lists what a page refers to. URLs of the agent's own origin begin
// with the path.
func (a *Agent) references(page *Response) []Resource {
	base := page.URL()
	if base == nil {
		return nil
	}
	var out []Resource
	z := html.NewTokenizer(bytes.NewReader(page.Body))
	for len(out) < maxResources {
		kind := z.Next()
		if kind == html.ErrorToken {
			break
		}
		if kind != html.StartTagToken && kind != html.SelfClosingTagToken {
			continue
		}
		tag := z.Token()
		if tag.Data == "base" {
			if u, err := base.Parse(attributeOf(&tag, "href")); err == nil {
				base = u
			}
			continue
		}
		ref := referenceOf(&tag)
		if ref == "" {
			continue
		}
		u, err := base.Parse(ref)
		if err != nil || u.Scheme != "http" && u.Scheme != "https" {
			continue
		}
		u.Fragment, u.RawFragment = "", ""
		where := u.String()
		if sameOrigin(u, a.base) {
			where = u.RequestURI()
		} else if !a.opts.OtherOrigins {
			continue
		}
		if !slices.ContainsFunc(out, func(r Resource) bool { return r.URL == where }) {
			out = append(out, Resource{URL: where})
		}
	}
	return out
}

// referenceOf returns what a tag makes a browser load, empty for nothing.
func referenceOf(tag *html.Token) string {
	var ref string
	switch tag.Data {
	case "link":
		for rel := range strings.FieldsSeq(strings.ToLower(attributeOf(tag, "rel"))) {
			if rel == "stylesheet" || rel == "icon" || rel == "apple-touch-icon" {
				ref = attributeOf(tag, "href")
			}
		}
	case "script":
		ref = attributeOf(tag, "src")
	case "img":
		if !strings.EqualFold(attributeOf(tag, "loading"), "lazy") {
			ref = attributeOf(tag, "src")
		}
	}
	return strings.TrimSpace(ref)
}

func attributeOf(tag *html.Token, name string) string {
	for _, a := range tag.Attr {
		if a.Key == name {
			return a.Val
		}
	}
	return ""
}

// URL returns the URL that was asked for. It must not be changed.
func (r *Response) URL() *url.URL {
	if r.url != nil || r.base == nil {
		return r.url
	}
	return resolveUnder(r.base, r.uri)
}
