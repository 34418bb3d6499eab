package pipeline

import (
	"fmt"

	"github.com/dptrain/dptrain/internal/evaluate"
)

// classWarnings are those of a classifier's held-out metric. All of them depend on
// released counts only.
func classWarnings(c *evaluate.Confusion) []Warning {
	var out []Warning
	noSignal := c.Balanced.Lower <= 1/float64(len(c.Classes))
	if noSignal {
		out = append(out, Warning{"no-signal", Critical,
			"The held-out balanced accuracy cannot be told from that of guessing: at this budget the model may tell no classes apart. Use more records, a larger epsilon or fewer columns."})
	}
	if a := c.Accuracy; a.Upper-a.Lower > WideInterval {
		out = append(out, Warning{"wide-interval", Critical,
			"The interval of the held-out accuracy is wide: few records or much noise, so it says little about the model. Use more records, a larger epsilon or a larger held-out share."})
	}
	if x := c.Largest; !noSignal && x.GainLower <= 0 {
		out = append(out, Warning{"majority-class", Critical,
			fmt.Sprintf("Always answering the most frequent class, %q, may be as right as this model: it is right for %.3f of the held-out records, the model for %.3f. Look at the balanced accuracy and the recalls.",
				c.Classes[x.Class], x.Share.Value, c.Accuracy.Value)})
	}
	if s := evaluate.ShareOf(c.None, c.Records); s.Lower > missingWarns {
		out = append(out, Warning{"missing-targets", Theoretical,
			fmt.Sprintf("About %.1f%% of the records (%.1f%% to %.1f%%) have none of the declared classes. They train nothing and the accuracy leaves them out: look for other spellings of the classes.",
				100*s.Value, 100*s.Lower, 100*s.Upper)})
	}
	return out
}
