// Package recipe parses and validates recipes: YAML descriptions of one private training run.
//
// # Recipes
//
// A recipe is a short YAML file. It names the table and the target, declares public knowledge about the
// columns, sets the privacy budget and selects the methods. Only three keys have no default: data.path,
// data.target and privacy.epsilon. [Parse] and [Load] turn the file into a [Recipe] in which all other fields
// are filled in; [Options.FromSettings] builds the same from command-line flags, under the same rules.
//
// # Guarantees
//
//   - All problems are reported at once. A rejected recipe returns [Problems], sorted by position, each with file,
//     line, column, the path of the key, the problem and the remedy.
//   - Nothing is ignored silently. An unknown key, a key without effect, and a name that this build does not
//     support are all errors. A recipe that parses is executed as written.
//   - Parsing never panics and has limits: at most [MaxSize] bytes, a bounded depth and a bounded growth through
//     aliases.
//   - The package never sees a data row. Rules that need the names of the columns take the header
//     ([Recipe.Validate]). A file without any recipe key (a table given by mistake) is rejected without quoting its
//     content.
//   - The published copy ([Recipe.Public]) contains resolved values only: no paths, no comments.
//
// # Implementation
//
// The YAML text becomes a tree of nodes with positions (yaml.go, the only file that uses the YAML library). The
// tree is validated against the JSON Schema that [Schema] prints for editors, which detects unknown keys and
// wrong types; each finding is mapped back to its node. The tree is then decoded over [Default], and rules that
// a schema cannot express are checked on the result. If both report the same place, the more specific message
// wins.
//
// Names of columns, categories and classes are taken literally: no, 1.0 and 007 name the cells with exactly
// this text. Only null needs quotes.
package recipe
