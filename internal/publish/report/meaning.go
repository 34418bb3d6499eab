package report

import (
	"fmt"
	"math"
)

// An Attack bounds the success of an attacker who reads the release and tests which of two neighbouring tables it is
// from, about one unit of protection, with any additional knowledge and any computing power: if the test answers "the
// second" with probability at most FalseAlarms for the first table, it does so with probability at most Found for the
// second.
type Attack struct {
	FalseAlarms float64 `json:"false_alarms"` // 0.05
	Found       float64 `json:"found"`        // in [FalseAlarms, 1]
}

// falseAlarms is the false-positive rate at which reports state the power of an attack.
const falseAlarms = .05

// alarmQuantile is -Φ⁻¹(falseAlarms).
const alarmQuantile = 1.6448536269514722

// muSlack is the delta below which the curve of a guarantee's mu is not a bound. It changes the bound on an attack by
// no more than that.
const muSlack = 1e-10

// AttackOf returns the smallest bound on an attack that the numbers of the guarantee prove. For the Gaussian curve of
// mu it is Φ(Φ⁻¹(a) + mu) at false-positive rate a (J. Dong, A. Roth and W. J. Su, "Gaussian differential privacy",
// 2022, section 2.2). For each point (epsilon, delta) of the profile, and for the promise, it is the smaller of
// e^epsilon a + delta and 1 - e^-epsilon (1 - delta - a) (P. Kairouz, S. Oh and P. Viswanath, "The composition
// theorem for differential privacy", 2017, theorem 2.1).
func (g Guarantee) AttackOf() Attack {
	found := 1.
	for _, p := range append([]Point{{g.Epsilon, g.Delta}}, g.Profile...) {
		if !(p.Epsilon >= 0 && p.Delta >= 0) {
			continue
		}
		found = math.Min(found, math.Exp(p.Epsilon)*falseAlarms+p.Delta)
		found = math.Min(found, 1-math.Exp(-p.Epsilon)*(1-p.Delta-falseAlarms))
	}
	if g.Mu != nil && *g.Mu >= 0 {
		found = math.Min(found, math.Erfc(-(*g.Mu-alarmQuantile)/math.Sqrt2)/2+muSlack)
	}
	return Attack{falseAlarms, math.Max(found, falseAlarms)}
}

// explained adds the explanation of a guarantee to it.
func (g Guarantee) explained() Guarantee {
	a := g.AttackOf()
	g.Attack, g.Meaning = &a, g.MeaningOf()
	return g
}

// comparison describes in one sentence the two tables that epsilon compares: they differ in one protected unit, which
// is a record unless the guarantee has a unit.
func (g Guarantee) comparison() string {
	const bounds = "Epsilon bounds what the release can teach anyone about "
	switch {
	case g.Unit != nil:
		return fmt.Sprintf(bounds+
			"one value of the column %s, with all its records, beyond what would be known if these records were not in the table.",
			printableName(g.Unit.Column))
	case g.Relation == "substitute":
		return bounds + "one record beyond what would be known if another record were in its place."
	case g.Relation == "substitute-private-columns":
		return bounds +
			"the private columns of one record beyond what would be known if they held other values."
	}
	return bounds + "one record beyond what would be known if it were not in the table."
}

// MeaningOf describes in one sentence the guarantee against an attacker who tests whether somebody is in the table.
func (g Guarantee) MeaningOf() string {
	a := g.AttackOf()
	positives := percent(a.FalseAlarms)
	found := percent(a.Found)
	limit := fmt.Sprintf(
		"at most %s of the time (%s without the release), whatever else they know.", found,
		positives)
	switch {
	case g.Unit != nil:
		return fmt.Sprintf(
			"An attacker who accepts a %s false-positive rate detects a given value of the column %s, with all its records, %s",
			positives, printableName(g.Unit.Column), limit)
	case g.Relation == "substitute":
		return versionsMeaning("a record", positives, limit)
	case g.Relation == "substitute-private-columns":
		return versionsMeaning("the private columns of a record", positives, limit)
	}
	return fmt.Sprintf("An attacker who accepts a %s false-positive rate detects a given record %s",
		positives, limit)
}

// versionsMeaning is the sentence of [Guarantee.MeaningOf] under substitution, which compares two versions of a
// protected unit.
func versionsMeaning(protected, positives, limit string) string {
	return fmt.Sprintf(
		"An attacker who compares two versions of %s, and accepts a %s false-positive rate, recognises the second %s",
		protected, positives, limit)
}

// formerMeaningOf returns the sentence that earlier versions of dptrain wrote instead of [Guarantee.MeaningOf].
func (g Guarantee) formerMeaningOf() string {
	a := g.AttackOf()
	alarms := percent(a.FalseAlarms)
	found := percent(a.Found)
	var versions string
	switch {
	case g.Unit != nil:
		return fmt.Sprintf(
			"Who guesses from the release whether somebody, one value of the column %s, is in the table, with %s false alarms, "+
				"finds somebody who is at most %s of the time, whatever else is known.",
			printableName(g.Unit.Column), alarms, found)
	case g.Relation == "substitute":
		versions = "a record"
	case g.Relation == "substitute-private-columns":
		versions = "the private columns of a record"
	default:
		return fmt.Sprintf(
			"Who guesses from the release whether a record is in the table, with %s false alarms, finds one that is at most %s of the time, "+
				"whatever else is known.", alarms, found)
	}
	return fmt.Sprintf(
		"Who guesses from the release which of two versions of %s is in the table, and takes the first for the second %s of the time, "+
			"recognises the second at most %s of the time, whatever else is known.", versions,
		alarms, found)
}

// percent prints a share with at most one decimal, rounded up.
func percent(x float64) string {
	return number(math.Ceil(x*1000-1e-9)/10) + "%"
}
