package main

import (
	"bytes"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// papersDriver runs scripts/papers-data.py on tiny sources in a clone named like those of its option --from. It prints
// a line for every outcome.
const papersDriver = `
import contextlib, gzip, hashlib, importlib.util, io, pathlib, subprocess, sys

spec = importlib.util.spec_from_file_location("papers_data", sys.argv[1])
script = importlib.util.module_from_spec(spec)
spec.loader.exec_module(script)
work = pathlib.Path(sys.argv[2])
folder = work / "tables"

clone = work / "mirrors" / "owner+name"
clone.mkdir(parents=True)
def git(*arguments):
    identity = ["-c", "user.name=a", "-c", "user.email=a@b", "-c", "core.autocrlf=false"]
    return subprocess.run(["git", "-C", clone] + identity + list(arguments), check=True, capture_output=True, text=True).stdout.strip()

sources = {
    "indexed.csv": ",a,b,price\n0,1,2,3\n1,4,5,6\n",
    "pixels.data": " ".join(["0.0000"] * 255 + ["1.0000"] + ["0"] * 3 + ["1"] + ["0"] * 6) + " \n",
    "clinical.csv": "x,y,class\n1,2,3\n1,?,3\n,2,3\n7,8,9\n",
    "unknown.csv": "job,target\n,yes\nclerk,no\n",
    "rents.csv": "city,area,rooms,bathroom,parking spaces,floor,animal,furniture,hoa,rent amount,property tax,fire insurance,total\n"
    "B,70,2,1,1,7,acept,furnished,10,20,30,40,0\n"
    "A c,71,3,2,1,-,not acept,furnished,11,21,31,41,99\n",
    "sales.csv": "id,date,price,bedrooms,bathrooms,sqft_living,sqft_lot,floors,waterfront,view,condition,grade,sqft_above,"
    "sqft_basement,yr_built,yr_renovated,zipcode,lat,long,sqft_living15,sqft_lot15\n"
    "1,20141013T000000,99,3,1.5,1180,5650,1,0,0,3,7,1180,0,1955,0,98178,47.5,-122.2,1340,5651\n"
    "2,20150209T000000,0,2,1,770,1000,1,1,0,3,6,770,0,1933,0,98028,47.7,-122.3,2720,8062\n",
}
git("init", "-q")
for name, text in sources.items():
    (clone / name).write_bytes(text.encode())
git("add", ".")
git("commit", "-q", "-m", "Sources")
repository = "owner/name@" + git("rev-parse", "HEAD")

def sha(text):
    return hashlib.sha256(text.encode()).hexdigest()

def table(name, convert, rows, original=None):
    return script.Table("small/" + name.split(".")[0], sha(rows), repository, name, original or sha(sources[name]), convert, "free")

def run(tables):
    script.TABLES = tables
    with contextlib.redirect_stdout(io.StringIO()):
        try:
            script.main([str(folder), "--from", str(work / "mirrors")])
        except SystemExit as stop:
            return str(stop)
    return "written"

def rows(name):
    return gzip.decompress((folder / "small" / (name + ".csv.gz")).read_bytes()).decode()

pixel_rows = ",".join(["pixel%d" % (j + 1) for j in range(256)] + ["target"]) + "\n" + "0," * 255 + "1,3\n"
rent_rows = (
    "area,rooms,bathroom,parking spaces,hoa,rent amount,property tax,fire insurance,city=A_c,city=B,animal=acept,"
    "animal=not_acept,furniture=furnished,target\n"
    "70,2,1,1,10,20,30,40,0,1,1,0,1,0\n"
    "71,3,2,1,11,21,31,41,1,0,0,1,1,4.605170186\n"
)
sale_rows = (
    "bedrooms,bathrooms,sqft_living,sqft_lot,grade,sqft_above,sqft_basement,yr_built,yr_renovated,lat,long,sqft_living15,"
    "sqft_lot15,month,day,year=2014,year=2015,waterfront=0,waterfront=1,target\n"
    "3,1.5,1180,5650,7,1180,0,1955,0,47.5,-122.2,1340,5651,10,13,1,0,1,0,4.605170186\n"
    "2,1,770,1000,6,770,0,1933,0,47.7,-122.3,2720,8062,2,9,0,1,0,1,0\n"
)
right = [
    table("indexed.csv", script.indexed, "a,b,target\n1,2,3\n4,5,6\n"),
    table("pixels.data", script.pixels, pixel_rows),
    table("clinical.csv", script.clinical, "x,y,target\n1,2,3\n7,8,9\n"),
    table("unknown.csv", script.unknown, "job,target\nunknown,yes\nclerk,no\n"),
    table("rents.csv", script.rents, rent_rows),
    table("sales.csv", script.sales, sale_rows),
]
print("all:", run(right))
print("rents:", rows("rents") == rent_rows)
print("sources:", (folder / "SOURCES.tsv").read_text().splitlines()[1].replace(repository, "owner/name@commit"))
left = folder / "small" / "indexed.csv.gz"
left.write_bytes(gzip.compress(b"a,b,target\n1,2,3\n4,5,6\n", 1))
before = left.read_bytes()
(clone / ".git").rename(work / "gone")
print("again:", run(right), left.read_bytes() == before)
left.write_bytes(gzip.compress(b"a,b,target\n1,2,4\n"))
print("changed:", run(right))
(work / "gone").rename(clone / ".git")
left.unlink()
print("source:", run([table("indexed.csv", script.indexed, "a,b,target\n1,2,3\n4,5,6\n", "0" * 64)]), left.exists())
print("converted:", run([table("indexed.csv", script.indexed, "other\n")]), left.exists())
print("parts:", len(list(folder.rglob("*.part"))))
`

// TestPapersData runs the script that fetches the papers' tables on tiny sources: it converts them, leaves tables with
// the right rows alone without reading their sources, and refuses sources and tables with another hash.
func TestPapersData(t *testing.T) {
	for _, tool := range []string{"python3", "git"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skip(err)
		}
	}
	script := filepath.Join("..", "..", "..", "scripts", "papers-data.py")
	cmd := exec.CommandContext(t.Context(), "python3", "-c", papersDriver, script, t.TempDir())
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, stderr.String())
	}
	got := map[string]string{}
	for line := range strings.Lines(string(out)) {
		name, outcome, _ := strings.Cut(strings.TrimSpace(line), ": ")
		got[name] = outcome
	}
	want := map[string]string{
		"all":       "written",
		"rents":     "True",
		"again":     "written True",
		"changed":   "has other rows; remove it",
		"source":    "want " + strings.Repeat("0", 64) + " False",
		"converted": "was converted to other rows",
		"parts":     "0",
		"sources": "small/indexed.csv.gz\t2\t2\tfree\tA CSV whose first column is an index without a name, " +
			"and whose last is the target.\tgithub owner/name@commit indexed.csv",
	}
	for name, part := range want {
		if !strings.Contains(got[name], part) {
			t.Errorf("%s: %q, want %q", name, got[name], part)
		}
	}
	if !strings.HasSuffix(got["converted"], "False") {
		t.Errorf("a table with other rows was written: %s", got["converted"])
	}
}
