// Package report writes the results of a run into two folders.
//
//	release/model.json    the model                       may be published
//	release/report.json   the account of the run          may be published
//	release/recipe.yaml   the public recipe               may be published
//	release/causal.json   a study of causal directions, in place of
//	release/causal.svg    model and report                may be published
//	release/describe.json a description of the columns, in place of
//	                      model and report                may be published
//	curator/run.json      exact facts about the records   never
//
// # What may leave
//
// The folder release/ holds only what the guarantee covers and what the recipe
// declares. Its bytes are a function of the released values and the plan alone:
// no date, no duration, no version of the tool, no path, no order of a map. Two
// runs with the same released values write the same bytes, which is what the
// record-and-replay test compares. Everything else, such as the number of rows
// and the cells that were repaired, goes to curator/ (mode 0700), which is for
// the owner of the data and covered by no guarantee.
//
// # The report
//
// A [Report] has the same keys for every task: which
// (epsilon, delta) was promised under which relation, its equivalent as a
// Gaussian (mu) and at other epsilons (the profile), every release that was
// paid for with its law, sensitivity and noise scale, the facts that
// are stated and not protected by the guarantee, warnings as data, the entry in a ledger and the hashes of
// the other files. Between them is the section of its task: [Training], [Causal] or
// [Description]. Earlier versions of the formats are still read.
// [New], [NewCausal] and [NewDescription] make a report from the result of a run, [Encode], [Decode] and [DecodeFile]
// write and read it, [Text] prints it for a person and [HTML] as a page, [Collect] adds the files beside it, and [Verify]
// checks them. A further task implements the interface section and adds its kind (task.go).
//
// # All or nothing
//
// A [Folder] is taken before any row is read, so that a run is refused, and not
// its results lost, when the output exists or cannot be written. Files are
// written and synced under a temporary name beside their place and then moved:
// a run that fails, is interrupted or is killed leaves no release/ behind, and an
// old one changes places with a complete new one, in one step where the system
// can. A lock on the folder keeps the results of two runs apart.
//
// # Is it consistent?
//
// [Verify] recomputes a release from its public files alone: the checksums, the
// sum of the steps, the plan of the recipe, the promise of the model and the entry of the
// ledger.
//
// [Registry] returns the facts in a report as fields of the public registry of
// deployments.
package report
