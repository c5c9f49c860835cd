package store

// For tests that look at the outputs of other packages.
var (
	Plant        = plant
	Leaky        = leaky
	PlantedWords = plantedWords
)

// PlantedText is what a scrub has to take out.
const (
	PlantedText = plantedText
)
