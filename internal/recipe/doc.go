// Package recipe is the room where a person's words become a checked
// description of one private training run.
//
// # What a recipe is
//
// A recipe is a short YAML file. It names the table and the target, declares
// what is public knowledge about the columns, states the privacy budget, and
// picks the methods. Only three keys have no default: data.path, data.target
// and privacy.epsilon. [Parse] and [Load] turn the file into a [Recipe] whose
// every other field is filled in; [FromFlags] builds the same thing from
// command-line flags, under the same rules.
//
// # What this room promises
//
//   - Every problem at once. A rejected recipe comes back as [Problems], sorted
//     by position, each with file, line, column, the path of the key, what is
//     wrong and what to do. Nobody fixes a file one error at a time.
//   - Nothing is ignored. An unknown key, a key that has no effect, a name this
//     build cannot honour: each one is refused. A recipe that parses is carried
//     out as written.
//   - It never panics and never reads without bound: at most [MaxSize] bytes, a
//     bounded depth and a bounded growth through aliases.
//   - It never sees a data row. Rules that need the names of the columns take
//     the header ([Recipe.Validate]). A file that carries no key of a recipe (a
//     table given by mistake) is refused without repeating a word of it.
//   - The published copy ([Recipe.Public]) holds resolved values only: no paths,
//     no comments.
//
// # How it works
//
// The YAML text becomes a tree of nodes with positions (yaml.go, the one place
// that knows the YAML library). The tree is checked against the JSON Schema
// that [Schema] prints for editors, which finds unknown keys and wrong types;
// each finding is mapped back to its node. The tree is then decoded over
// [Default], and the rules a schema cannot say are checked on the result. When
// both have something to say about one place, the more telling message wins.
//
// Names of columns, categories and classes are taken as written: no, 1.0 and
// 007 name the cells that hold exactly this text. Only null needs quotes.
package recipe
