package kernelmap

// A Summary says what the terms of maps add to the predictions of a model, at its landmarks: public
// points, so that it costs nothing.
type Summary struct {
	Share float64 // of the variance of the prediction that the terms have
	Pairs []Pair  // of columns, the strongest first
}

// A Pair is two columns that the terms take together. Value is the standard deviation of what the terms say of
// the two together beyond what they say of each, in units of the target.
type Pair struct {
	First, Second string
	Value         float64
}
