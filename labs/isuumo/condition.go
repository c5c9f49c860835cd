package isuumo

// Open is the end of a [Range] that has none.
const Open = -1

// A Range is one choice of a search: Min <= value < Max.
type Range struct {
	ID  int64 `json:"id"` // its index
	Min int64 `json:"min"`
	Max int64 `json:"max"`
}

// Holds reports whether the range has the value in it.
func (r Range) Holds(v int64) bool {
	return (r.Min == Open || v >= r.Min) && (r.Max == Open || v < r.Max)
}

// Ranges are the choices for one number.
type Ranges struct {
	Prefix string  `json:"prefix"`
	Suffix string  `json:"suffix"`
	Ranges []Range `json:"ranges"`
}

// A List is the choices for one text.
type List struct {
	List []string `json:"list"`
}

// A ChairCondition is the answer of GET /api/chair/search/condition.
type ChairCondition struct {
	Width   Ranges `json:"width"`
	Height  Ranges `json:"height"`
	Depth   Ranges `json:"depth"`
	Price   Ranges `json:"price"`
	Color   List   `json:"color"`
	Feature List   `json:"feature"`
	Kind    List   `json:"kind"`
}

// An EstateCondition is the answer of GET /api/estate/search/condition.
type EstateCondition struct {
	DoorWidth  Ranges `json:"doorWidth"`
	DoorHeight Ranges `json:"doorHeight"`
	Rent       Ranges `json:"rent"`
	Feature    List   `json:"feature"`
}
