package model

import "github.com/kasoku/kasoku/labs/isuumo"

// A Chair is a chair as the API shows it: without popularity and stock.
type Chair struct {
	ID          int64  `json:"id"`
	Name        string `json:"name"`
	Description string `json:"description"`
	Thumbnail   string `json:"thumbnail"`
	Price       int64  `json:"price"`
	Height      int64  `json:"height"`
	Width       int64  `json:"width"`
	Depth       int64  `json:"depth"`
	Color       string `json:"color"`
	Features    string `json:"features"`
	Kind        string `json:"kind"`
}

// An Estate is an estate as the API shows it: without popularity.
type Estate struct {
	ID          int64   `json:"id"`
	Thumbnail   string  `json:"thumbnail"`
	Name        string  `json:"name"`
	Description string  `json:"description"`
	Latitude    float64 `json:"latitude"`
	Longitude   float64 `json:"longitude"`
	Address     string  `json:"address"`
	Rent        int64   `json:"rent"`
	DoorHeight  int64   `json:"doorHeight"`
	DoorWidth   int64   `json:"doorWidth"`
	Features    string  `json:"features"`
}

// A ChairList is the answer of lists of chairs. Count is nil where the API has no
// count: the list of low prices.
type ChairList struct {
	Count  *int64  `json:"count,omitempty"`
	Chairs []Chair `json:"chairs"`
}

// An EstateList is the answer of lists of estates. Count is nil where the API has
// no count: the list of low prices, and recommendations.
type EstateList struct {
	Count   *int64   `json:"count,omitempty"`
	Estates []Estate `json:"estates"`
}

// A PolygonRequest is the body of POST /api/estate/nazotte.
type PolygonRequest struct {
	Coordinates []isuumo.Point `json:"coordinates"`
}

// ChairAnswer returns the chair as the API shows it.
func ChairAnswer(c *isuumo.Chair) Chair {
	return Chair{c.ID, c.Name, c.Description, c.Thumbnail, c.Price, c.Height, c.Width, c.Depth, c.Color, c.Features,
		c.Kind}
}

// EstateAnswer returns the estate as the API shows it.
func EstateAnswer(e *isuumo.Estate) Estate {
	return Estate{e.ID, e.Thumbnail, e.Name, e.Description, e.Latitude, e.Longitude, e.Address, e.Rent, e.DoorHeight,
		e.DoorWidth, e.Features}
}

// ChairAnswers returns a list as the API shows it. It is never nil.
func ChairAnswers(chairs []*isuumo.Chair) []Chair {
	out := make([]Chair, len(chairs))
	for i, c := range chairs {
		out[i] = ChairAnswer(c)
	}
	return out
}

// EstateAnswers returns a list as the API shows it. It is never nil.
func EstateAnswers(estates []*isuumo.Estate) []Estate {
	out := make([]Estate, len(estates))
	for i, e := range estates {
		out[i] = EstateAnswer(e)
	}
	return out
}
