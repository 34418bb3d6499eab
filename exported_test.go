package dptrain_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path"
	"slices"
	"strings"
	"testing"
)

// mostExported is the maximum number of exported top-level names of the public packages together.
const mostExported = 350

// TestExportedNames checks that the set of names that other modules can use stays small. A name that only this
// module uses belongs below internal/.
func TestExportedNames(t *testing.T) {
	count := map[string]int{}
	forEachPublicFile(t, func(name string, file *ast.File) {
		count[path.Dir(name)] += len(exportedNames(file))
	})
	total := 0
	for _, n := range count {
		total += n
	}
	for _, dir := range []string{".", "budget", "dataset", "regression", "selection",
		"adapter/golearn"} {
		if count[dir] == 0 {
			t.Errorf("no name of %s was counted", dir)
		}
	}
	if total > mostExported {
		t.Errorf(
			"%d exported names, at most %d",
			total, mostExported,
		)
		for _, dir := range slices.Sorted(maps.Keys(count)) {
			t.Logf("%4d %s", count[dir], dir)
		}
	}
}

// forEachPublicFile calls visit for every source file of the public packages.
func forEachPublicFile(t *testing.T, visit func(name string, file *ast.File)) {
	t.Helper()
	err := fs.WalkDir(os.DirFS("."), ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() &&
			name != "." &&
			(slices.Contains(
				[]string{"internal", "experiments", "testdata", "cmd"},
				d.Name(),
			) ||
				strings.HasPrefix(d.Name(), ".")):
			return fs.SkipDir
		case !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go"):
			return nil
		}
		file, err := parser.ParseFile(
			token.NewFileSet(),
			name,
			nil,
			parser.SkipObjectResolution,
		)
		if err == nil && file.Name.Name != "main" {
			visit(name, file)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestExportedTypes checks that the documentation of a public package mentions no type of a package below internal/.
func TestExportedTypes(t *testing.T) {
	files := 0
	forEachPublicFile(t, func(name string, file *ast.File) {
		files++
		for _, member := range internalTypes(file) {
			t.Errorf("%s: %s", name, member)
		}
	})
	if files == 0 {
		t.Error("no file was checked")
	}
}

// internalTypes returns the mentions of types of internal packages in the exported declarations of a file.
func internalTypes(file *ast.File) []string {
	internal := map[string]bool{}
	for _, i := range file.Imports {
		place := strings.Trim(i.Path.Value, `"`)
		if !strings.Contains(place+"/", "/internal/") {
			continue
		}
		name := path.Base(place)
		if i.Name != nil {
			name = i.Name.Name
		}
		internal[name] = true
	}
	var out []string
	check := func(member string, types ...ast.Node) {
		for _, of := range types {
			ast.Inspect(of, func(n ast.Node) bool {
				s, ok := n.(*ast.SelectorExpr)
				if !ok {
					return true
				}
				if x, ok := s.X.(*ast.Ident); ok && internal[x.Name] {
					out = append(out, member+" mentions "+x.Name+"."+s.Sel.Name)
				}
				return false
			})
		}
	}
	for _, d := range file.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Name.IsExported() &&
				(d.Recv == nil || receiverName(d).IsExported()) {
				check(d.Name.Name, d.Type)
			}
		case *ast.GenDecl:
			for _, s := range d.Specs {
				switch s := s.(type) {
				case *ast.TypeSpec:
					if s.Name.IsExported() {
						checkType(s.Name.Name, s.Type, check)
					}
				case *ast.ValueSpec:
					if s.Type != nil &&
						slices.ContainsFunc(s.Names, (*ast.Ident).IsExported) {
						check(s.Names[0].Name, s.Type)
					}
				}
			}
		}
	}
	return out
}

// checkType calls check for the types that a declared type shows: those of the exported fields of a struct and of the
// exported methods of an interface, and otherwise the type itself.
func checkType(name string, of ast.Expr, check func(member string, types ...ast.Node)) {
	var fields *ast.FieldList
	switch of := of.(type) {
	case *ast.StructType:
		fields = of.Fields
	case *ast.InterfaceType:
		fields = of.Methods
	default:
		check(name, of)
		return
	}
	for _, f := range fields.List {
		if len(f.Names) == 0 ||
			slices.ContainsFunc(f.Names, (*ast.Ident).IsExported) {
			check(name, f.Type)
		}
	}
}

// receiverName returns the name of the type of a method.
func receiverName(d *ast.FuncDecl) *ast.Ident {
	var name *ast.Ident
	ast.Inspect(d.Recv.List[0].Type, func(n ast.Node) bool {
		x, ok := n.(*ast.Ident)
		if ok && name == nil {
			name = x
		}
		return name == nil
	})
	return name
}

// TestInternalTypesAreFound checks that every way to mention a type of an internal package is found, and that members
// that are not exported may mention one.
func TestInternalTypesAreFound(t *testing.T) {
	const source = `package p
import ("m/internal/a"; b "m/internal/c"; "m/d")
type A struct { F []a.T; g a.U }
type B = b.T
type C interface { M(x map[string]a.T) ; n(a.U) }
type e struct { F a.U }
func (e) M() a.U
func (*A) N() *b.T
func (*A) o() a.U
func F(x ...func(a.T)) d.T
var G, h a.T
var i a.U
`
	file, err := parser.ParseFile(token.NewFileSet(), "p.go", source, 0)
	if err != nil {
		t.Fatal(err)
	}
	want := "A a.T, B b.T, C a.T, N b.T, F a.T, G a.T"
	got := strings.ReplaceAll(
		strings.Join(internalTypes(file), ", "),
		" mentions ",
		" ",
	)
	if got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// exportedNames returns the exported top-level names of a file: types, functions, variables and constants.
func exportedNames(file *ast.File) []string {
	var out []string
	add := func(names ...*ast.Ident) {
		for _, n := range names {
			if n.IsExported() {
				out = append(out, n.Name)
			}
		}
	}
	for _, d := range file.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Recv == nil {
				add(d.Name)
			}
		case *ast.GenDecl:
			for _, s := range d.Specs {
				switch s := s.(type) {
				case *ast.TypeSpec:
					add(s.Name)
				case *ast.ValueSpec:
					add(s.Names...)
				}
			}
		}
	}
	return out
}

// TestExportedIsCounted checks that every kind of exported name counts once, and that methods, fields and
// unexported names do not count.
func TestExportedIsCounted(t *testing.T) {
	const source = `package p
type A struct{ F int }
type (b int; C = A)
func D() {}
func (A) E() {}
var G, h, I int
const ( J = iota; k; L )
`
	file, err := parser.ParseFile(token.NewFileSet(), "p.go", source, 0)
	if err != nil {
		t.Fatal(err)
	}
	got := strings.Join(exportedNames(file), "")
	want := "ACDGIJL"
	if got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
