package report

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/dptrain/dptrain/internal/sys/strictjson"
	"github.com/dptrain/dptrain/internal/train/pipeline"
	"github.com/dptrain/dptrain/regression"
)

// Deployment holds the fields of a record in the public registry of deployments of differential privacy
// (github.com/opendp/deployments-registry-data, the template of its tests), in the order of the registry. Fields that
// a report does not contain are empty or absent, for the data owner to fill in.
type Deployment struct {
	Deployment struct {
		Basic          RegistryBasic          `json:"basic"`
		Variant        RegistryVariant        `json:"dp_variant"`
		Loss           RegistryLoss           `json:"privacy_loss"`
		Model          RegistryModel          `json:"deployment_model"`
		Implementation RegistryImplementation `json:"implementation"`
		Administrative RegistryAdministrative `json:"administrative"`
	} `json:"deployment"`
}

// RegistryBasic describes the published data. All fields except Type and Description are for the owner to fill in.
type RegistryBasic struct {
	Name            string   `json:"name"`
	Curators        []string `json:"data_curators"`
	Description     string   `json:"description"`
	IntendedUse     string   `json:"intended_use"`
	Type            string   `json:"data_product_type"`
	Region          string   `json:"data_product_region"`
	Sector          string   `json:"data_product_sector"`
	PublicationDate string   `json:"publication_date"`
}

// RegistryVariant is the definition of privacy and the facts that it does not cover.
type RegistryVariant struct {
	Name        string `json:"variant_name"`
	Domain      string `json:"data_domain"`
	Unprotected string `json:"unprotected_quantities"`
}

// RegistryLoss is the guarantee.
type RegistryLoss struct {
	Unit              string             `json:"privacy_unit"`
	UnitDetails       string             `json:"privacy_unit_details"`
	Units             int                `json:"number_of_privacy_units"`
	Parameters        RegistryParameters `json:"privacy_parameters"`
	ParametersDetails string             `json:"privacy_parameters_details"`
}

// RegistryParameters are epsilon and delta.
type RegistryParameters struct {
	Epsilon float64 `json:"epsilon"`
	Delta   float64 `json:"delta"`
}

// RegistryModel describes the trust model.
type RegistryModel struct {
	Name           string `json:"model_name"`
	NameDetails    string `json:"model_name_details"`
	Trust          string `json:"trust_assumptions"`
	Actors         string `json:"actors"`
	Release        string `json:"release_type"`
	ReleaseDetails string `json:"release_type_details"`
	Source         string `json:"data_source_type"`
	SourceDetails  string `json:"data_source_type_details"`
	Access         string `json:"access_type"`
	AccessDetails  string `json:"access_type_details"`
}

// RegistryImplementation describes how the guarantee is enforced.
type RegistryImplementation struct {
	Preprocessing  string `json:"preprocessing_and_hyperparameter_tuning"`
	Mechanisms     string `json:"mechanisms"`
	Composition    string `json:"composition"`
	PostProcessing string `json:"post_processing"`
	Justification  string `json:"justification"`
	Utility        string `json:"utility"`
	Additional     string `json:"additional_information"`
}

// RegistryAdministrative is about the record itself.
type RegistryAdministrative struct {
	Sources struct{} `json:"evidence_sources"`
	Status  string   `json:"status"`
	Authors []string `json:"registry_authors"`
}

// Registry converts a report to the registry's fields, which are all public.
func Registry(r *Report) *Deployment {
	out := new(Deployment)
	d := &out.Deployment
	d.Basic = RegistryBasic{
		Curators:    []string{},
		Type:        "Machine learning model",
		Description: describeModel(r),
	}
	d.Variant = RegistryVariant{
		Name: "Approximate DP",
		Domain: "Tables whose records have the columns " +
			strings.Join(append(quoted(r.Features.Considered), quoted([]string{r.Target})...),
				", ") + ".",
		Unprotected: unprotected(r),
	}
	if r.Guarantee.Delta == 0 {
		d.Variant.Name = "Pure DP"
	}
	d.Loss = RegistryLoss{
		Unit:              "Record",
		UnitDetails:       neighbours(r.Guarantee.Relation),
		Units:             1,
		Parameters:        RegistryParameters{r.Guarantee.Epsilon, r.Guarantee.Delta},
		ParametersDetails: parameters(r.Guarantee),
	}
	if u := r.Guarantee.Unit; u != nil {
		d.Loss.Unit, d.Loss.UnitDetails = "User", neighboursOf(*u)
	}
	d.Model = RegistryModel{
		Name:  "Central",
		Trust: "The data owner and the machine are trusted. Readers of the release are not trusted, whatever their number and background knowledge; they may know the source code.",
		Actors: bullets(
			"The data owner runs dptrain on the table and may read exact notes that are not released.",
			"Readers receive the model, the report and the recipe."),
		Release:        "One-shot",
		ReleaseDetails: compositionText(r),
		Source:         "Static",
		Access:         "Non-interactive",
	}
	d.Implementation = RegistryImplementation{
		Preprocessing: tuning(r) + preparation(r) +
			"dptrain cannot know whether the recipe was changed after seeing the records or other results: if so, state it here.",
		Mechanisms:     mechanisms(r.Events),
		Composition:    composition(r),
		PostProcessing: "Coefficients, clamps, standard errors and the model file are computed from released values.",
		Utility:        utility(r),
		Additional:     "Noise is sampled exactly, on integers, from a cryptographic generator, so the low bits of released values reveal nothing. The running time is not protected.",
	}
	d.Administrative = RegistryAdministrative{
		Status:  "Draft",
		Authors: []string{},
	}
	return out
}

// EncodeRegistry writes the registry's fields of a report as JSON.
func EncodeRegistry(w io.Writer, r *Report) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(Registry(r))
}

func describeModel(r *Report) string {
	if r.Model.Kind == "" {
		if r.Stopped != nil {
			return "No model: " + r.WhyNoModel() + "."
		}
		if r.lacksClasses() {
			return fmt.Sprintf("No model of %q: %s.", r.Target, r.WhyNoModel())
		}
		return fmt.Sprintf(
			"No model: the method %s abstained on %q.",
			r.Model.Method,
			r.Target,
		)
	}
	return fmt.Sprintf(
		"A model that predicts %q from %d of %d columns, trained by dptrain with the method %s.",
		r.Target, len(r.Features.Selected), len(r.Features.Considered), r.Model.Method)
}

func quoted(names []string) []string {
	out := make([]string, len(names))
	for i, name := range names {
		out[i] = fmt.Sprintf("%q", name)
	}
	return out
}

func bullets(items ...string) string {
	return "- " + strings.Join(items, "\n- ")
}

// unprotected lists the facts stated by the recipe, with their values.
func unprotected(r *Report) string {
	items := []string{"The names of the columns, and the existence of the table and of this run."}
	for _, fact := range r.Unprotected {
		value, err := strictjson.Line(fact.Value)
		if err != nil {
			value = "stated in the recipe"
		}
		items = append(items, fact.Name+": "+value)
	}
	return bullets(items...)
}

func neighbours(relation string) string {
	switch relation {
	case "add-remove":
		return "Neighbouring tables differ by the presence of one record. The number of records is protected."
	case "substitute":
		return "Neighbouring tables differ in the contents of one record. The number of records is public."
	}
	return "Neighbouring tables differ in the private columns of one record. Its other columns and the number of records are public."
}

// neighboursOf describes the neighbouring relation if the records of a privacy unit are protected together. It makes
// no claim about single records: if one record of each unit is used, a new record may replace another record of its
// unit.
func neighboursOf(u Unit) string {
	return fmt.Sprintf(
		"A user is one value of the column %q (whatever it represents), with all its records; at most %d records of each were used. Neighbouring tables differ by the presence of one user with all their records. "+
			"The number of users and the number of records are protected. Records without a user were not used.",
		u.Column, u.MaxRows)
}

func parameters(g Guarantee) string {
	s := fmt.Sprintf("The noise distributions of all steps guarantee epsilon %v at this delta. %s", g.Spent,
		g.MeaningOf())
	if g.Mu != nil {
		s += fmt.Sprintf(" Gaussian privacy: mu %v.", *g.Mu)
	}
	for _, p := range g.Profile {
		s += fmt.Sprintf(" Delta at epsilon %v: %v.", p.Epsilon, p.Delta)
	}
	return s
}

// compositionText describes the cost of other runs on the same records.
func compositionText(r *Report) string {
	if l := r.Ledger; l != nil {
		return fmt.Sprintf(
			"This run is entry %d of a ledger that limits the total budget of all runs on the data set %q; head %s.",
			l.Entry, l.Dataset, l.Head)
	}
	return "No ledger was kept. The budget adds to that of all other runs on the same records."
}

// mechanisms lists the steps.
func mechanisms(events []Event) string {
	var items []string
	for _, e := range events {
		draws := fmt.Sprintf("%d draws, each ", e.Draws)
		if e.Draws == 1 {
			draws = "1 draw of "
		}
		s := fmt.Sprintf("%s (%s records): %s, %s", e.ID, e.Part, e.Law, draws)
		if e.Mu > 0 {
			s += fmt.Sprintf("mu %.4g", e.Mu)
		} else {
			s += fmt.Sprintf("epsilon %.4g", e.Epsilon)
		}
		if e.Delta > 0 {
			s += fmt.Sprintf(", delta %.4g", e.Delta)
		}
		if e.Scale > 0 {
			s += fmt.Sprintf(
				"; sensitivity %.4g, noise scale %.4g",
				e.Sensitivity,
				e.Scale,
			)
		}
		if e.Taken != nil && !*e.Taken {
			s += "; skipped: a released value selected another branch, and the price covers all branches"
		}
		items = append(items, s+".")
	}
	if len(items) == 0 {
		return "None."
	}
	return bullets(items...)
}

// tuning describes the candidates of a search.
func tuning(r *Report) string {
	if r.endedEarly() {
		return ""
	}
	if x := r.Sizes; x != nil {
		return fmt.Sprintf(
			"One of %d numbers of features was chosen within the budget by private selection with a secret number of tries, %s on average. ",
			len(x.Sizes), number(x.Runs))
	}
	if r.Search == nil {
		return ""
	}
	return fmt.Sprintf(
		"One of %d candidates was chosen within the budget by private selection from private candidates with a secret number of tries, %s on average. ",
		len(r.Search.Candidates), number(r.Search.Runs))
}

// preparation describes the releases before the model.
func preparation(r *Report) string {
	released := func(stage string) bool {
		return slices.ContainsFunc(r.Events, func(e Event) bool {
			return strings.Contains(e.ID, "/"+stage+"/")
		})
	}
	s := ""
	if n, m := len(r.Features.Selected), len(r.Features.Considered); n < m &&
		released("selection") {
		s = fmt.Sprintf(
			"%[2]d of %[1]d columns were selected as features by a mechanism within the budget. ", m, n)
	}
	if released("target-encoding") {
		s += "Values of category columns were replaced by noisy means of the target, by a mechanism within the budget. "
	}
	if released("scaling") {
		s += "Ranges that are not declared in the recipe were found by a mechanism within the budget"
	} else {
		s += "No range of a protected value was derived from the records: all ranges are declared or not needed"
	}
	if r.Guarantee.Relation == "substitute-private-columns" {
		s += "; those of public columns are exact"
	}
	return s + ". "
}

func composition(r *Report) string {
	s := "Basic composition: the epsilons and deltas of the steps add up."
	if r.Guarantee.Composition == "tight" {
		s = "Privacy loss distributions of the steps, with losses rounded up."
	}
	if r.Search != nil {
		s = fmt.Sprintf(
			"Training: Rényi divergences of a private selection (Papernot and Steinke 2022, theorem 2, eta %v, gamma %v); steps of candidates that did not win are listed even if they were not tried. Held-out records: privacy loss distributions.",
			r.Search.Eta, r.Search.Gamma)
	}
	if x := r.Sizes; x != nil {
		s = fmt.Sprintf(
			"Training: Rényi divergences, of the model those of a private selection (Papernot and Steinke 2022, theorem 2, eta %v, gamma %v); steps of sizes that did not win are listed even if they were not tried. Held-out records: privacy loss distributions.",
			x.Eta, x.Gamma)
	}
	if slices.ContainsFunc(r.Events, func(e Event) bool {
		return e.Part == pipeline.HoldoutName
	}) {
		s += " A record is in the training part or in the held-out part."
		if text := r.Accounting.amplificationText(); text != "" {
			s += " " + text
		} else {
			s += " So only the larger of the two counts."
		}
		if r.Accounting != nil && r.Accounting.Lead != nil {
			s += " The steps on all records are added."
		}
	}
	return s
}

// utility repeats the private metrics.
func utility(r *Report) string {
	switch m := r.Metrics; {
	case r.Model.Kind == "":
		return "There is no model."
	case r.Task == regression.TaskClassification && m.Accuracy != nil:
		return "Held-out accuracy: " + accuracy(m) + "."
	case r.Task == regression.TaskRegression && m.R2 != nil:
		if s := transformedMetric(r); s != "" {
			return "Held-out R²: " + metric(r) + ". R² of " + s + "."
		}
		return "Held-out R²: " + metric(r) + "."
	}
	return "Not measured: no records were held out."
}

// ToFillIn lists the fields of a [Deployment] that the owner has to fill in, in its order.
func ToFillIn() []string {
	return []string{"basic.name", "basic.data_curators", "basic.intended_use",
		"basic.data_product_region",
		"basic.data_product_sector", "basic.publication_date", "implementation.justification",
		"administrative"}
}
