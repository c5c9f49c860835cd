package isuumo

// A Chair is a row of the table chair. The JSON is that of the contest's files;
// answers of the API leave out Popularity and Stock.
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
	Features    string `json:"features"` // joined by commas; empty: none
	Kind        string `json:"kind"`
	Popularity  int64  `json:"popularity"`
	Stock       int64  `json:"stock"`
}

// An Estate is a row of the table estate. The JSON is that of the contest's files;
// answers of the API leave out Popularity.
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
	Features    string  `json:"features"` // joined by commas; empty: none
	Popularity  int64   `json:"popularity"`
}

// A Point is a place, also a corner of a polygon in a request.
type Point struct {
	Latitude  float64 `json:"latitude"`
	Longitude float64 `json:"longitude"`
}

// Data is all that a run of the contest needs.
type Data struct {
	Chairs  []Chair // the rows after /initialize, by id
	Estates []Estate

	VerifyChairs  []Chair // uploaded while the service is verified; the first one has a stock of 1
	VerifyEstates []Estate
	DraftChairs   [][]Chair // uploaded under load, one file each
	DraftEstates  [][]Estate

	ChairCondition  ChairCondition
	EstateCondition EstateCondition
}

// Limits of the lists that have no pages.
const (
	LowPricedLimit   = 20
	RecommendedLimit = 20
	PolygonLimit     = 50
)
