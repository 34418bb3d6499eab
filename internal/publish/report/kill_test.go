package report

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/dptrain/dptrain/internal/sys/filesys"
	"github.com/dptrain/dptrain/internal/train/pipeline"
	"github.com/dptrain/dptrain/regression"
)

// kills is the number of kills in TestKilledAtRandom; scripts/long.sh sets it to 200.
var kills = flag.Int(
	"kills",
	10,
	"how often the writing process is killed at a random time",
)

// The environment variables of a child process: the job and its folder.
const (
	childJob    = "DPTRAIN_REPORT_JOB" // commits, one, full, readonly or race
	childFolder = "DPTRAIN_REPORT_FOLDER"
	childExtra  = "DPTRAIN_REPORT_EXTRA"
)

func TestMain(m *testing.M) {
	flag.Parse()
	folder := os.Getenv(childFolder)
	extra := os.Getenv(childExtra)
	switch os.Getenv(childJob) {
	case "":
		os.Exit(m.Run()) //nolint:forbidigo // a TestMain ends its process
	case "commits":
		childCommits(folder, extra)
	case "one":
		childOne(folder, extra)
	case "full":
		childFull(folder)
	case "readonly":
		childReadOnly(folder)
	case "race":
		childRace(folder, extra)
	}
}

// childCommand returns a command that starts this program again with a job.
func childCommand(t *testing.T, job, folder, extra string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), self)
	cmd.Env = append(
		os.Environ(),
		childJob+"="+job,
		childFolder+"="+folder,
		childExtra+"="+extra,
	)
	return cmd
}

// exitWithError ends a child process with an error.
func exitWithError(err error) {
	fmt.Println(err)
	os.Exit(3)
}

// numberedFiles returns the files of run k: each of the four contains k.
func numberedFiles(k int) Files {
	name := strconv.Itoa(k)
	return Files{
		Model: &regression.Linear{
			Target: name,
			Upper:  1,
			Columns: []regression.Column{{
				Name:  strings.Repeat("c", 20_000),
				Upper: 1,
			}},
		},
		Report: &Report{
			Format:    Format,
			Guarantee: Guarantee{Profile: []Point{}},
			Events:    []Event{},
			Training: &Training{
				Task:     regression.TaskRegression,
				Target:   name,
				Model:    Model{Kind: "linear"},
				Features: Features{[]string{}, []string{}},
			},
			Unprotected: []pipeline.Fact{},
			Warnings:    []pipeline.Warning{},
		},
		Recipe: []byte("target: " + name + "\n"),
		Run: &Run{
			Format:  RunFormat,
			Rows:    k,
			Seconds: map[string]float64{},
		},
	}
}

// childCommits writes runs in sequence until it is killed.
func childCommits(folder, first string) {
	k, err := strconv.Atoi(first)
	for err == nil {
		err = Write(context.Background(), folder, numberedFiles(k), true)
		k++
	}
	exitWithError(err)
}

// childOne writes run 2 and kills itself at the step named in extra.
func childOne(folder, extra string) {
	f, err := Prepare(folder, true)
	if err != nil {
		exitWithError(err)
	}
	step, noExchange := strings.CutPrefix(extra, "without exchange: ")
	f.noExchange = noExchange
	f.step = func(name string) error {
		if name != step {
			return nil
		}
		p, err := os.FindProcess(os.Getpid())
		if err == nil {
			err = p.Kill()
		}
		if err != nil {
			exitWithError(err)
		}
		select {}
	}
	exitWithError(errors.Join(
		f.Commit(context.Background(), numberedFiles(2)),
		errors.New("the step never came"),
	))
}

// runOf returns the number on which all files of a release/ agree, or 0 if there is no release. An incomplete release
// fails the test.
func runOf(t *testing.T, release string) int {
	t.Helper()
	entries, err := os.ReadDir(release)
	if errors.Is(err, os.ErrNotExist) {
		return 0
	}
	if err != nil || len(entries) != 4 {
		t.Fatalf(
			"%v in %s, error %v",
			entries, release, err,
		)
	}
	model, err := regression.DecodeModel(openFile(t, release, "model.json"))
	if err != nil {
		t.Fatal(err)
	}
	report, err := Decode(openFile(t, release, "report.json"))
	if err != nil {
		t.Fatal(err)
	}
	recipe, err := os.ReadFile(filepath.Join(release, "recipe.yaml"))
	if err != nil ||
		string(recipe) != "target: "+report.Target+"\n" ||
		model.Output().Target != report.Target {
		t.Fatalf(
			"files of several runs: %v, %q, %q, %q",
			err,
			recipe,
			report.Target,
			model.Output().Target,
		)
	}
	k, err := strconv.Atoi(report.Target)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// rowsOf returns the number in a curator/, or 0 if there is no such folder.
func rowsOf(t *testing.T, folder string) int {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(folder, CuratorDir, "run.json"))
	if errors.Is(err, os.ErrNotExist) {
		return 0
	}
	var r Run
	if err := errors.Join(err, json.Unmarshal(data, &r)); err != nil {
		t.Fatal(err)
	}
	return r.Rows
}

// TestKilledAtRandom repeatedly kills a process that writes runs in sequence into a folder. After each kill the
// release must be complete, of one run, and not older than the one before.
func TestKilledAtRandom(t *testing.T) {
	folder := t.TempDir()
	random := rand.New(rand.NewPCG(3, 4))
	last := 0
	moved := 0
	for range *kills {
		cmd := childCommand(t, "commits", folder, strconv.Itoa(last+1))
		var out bytes.Buffer
		cmd.Stdout = &out
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Duration(random.IntN(150)) * time.Millisecond)
		if err := cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		err := cmd.Wait()
		if err == nil || cmd.ProcessState.ExitCode() != -1 {
			t.Fatalf(
				"%v: %s",
				err, out.String(),
			)
		}
		k := runOf(t, filepath.Join(folder, ReleaseDir))
		rows := rowsOf(t, folder)
		if k < last || rows != k && rows != k+1 {
			t.Fatalf(
				"run %d is released, after %d, with the notes of %d",
				k, last, rows,
			)
		}
		if k > last {
			moved++
		}
		last = k
	}
	err := Write(t.Context(), folder, numberedFiles(last+1), true)
	if err != nil ||
		runOf(t, filepath.Join(folder, ReleaseDir)) != last+1 {
		t.Errorf("the run after the kills: %v", err)
	}
	nothingLeft(t, folder)
	t.Logf(
		"%d kills, %d runs written, %d kills let a run through before",
		*kills, last, moved,
	)
}

// TestKilledAtEveryStep kills a process at every step of writing a run, into a new folder and over an earlier run,
// with and without the exchange of folders.
func TestKilledAtEveryStep(t *testing.T) {
	exchanges := canExchange(t)
	killed := 0
	for _, step := range commitSteps(t, numberedFiles(1), true) {
		for _, old := range []bool{false, true} {
			for _, without := range []string{"", "without exchange: "} {
				if !stepHappens(step, old, without != "" || !exchanges) {
					continue
				}
				folder := t.TempDir()
				want := 0
				if old {
					want = 1
					err := Write(t.Context(), folder, numberedFiles(1), false)
					if err != nil {
						t.Fatal(err)
					}
				}
				out, err := childCommand(t, "one", folder, without+step).CombinedOutput()
				var exit *exec.ExitError
				if !errors.As(err, &exit) || exit.ExitCode() != -1 {
					t.Fatalf(
						"%s%s: %v, %s",
						without, step, err, out,
					)
				}
				killed++
				at := filepath.Join(folder, ReleaseDir)
				if old &&
					(without != "" || !exchanges) &&
					step == "rename to "+ReleaseDir { // the one moment between two renames
					aside, _ := filepath.Glob(
						filepath.Join(folder, ".dptrain-*", "old-"+ReleaseDir))
					if len(aside) != 1 {
						t.Fatalf("%q", aside)
					}
					at = aside[0]
				}
				got := runOf(t, at)
				if got != want {
					t.Errorf(
						"%skilled at %q: run %d, want %d",
						without, step, got, want,
					)
				}
				if old {
					_, err := Prepare(folder, false)
					if !errors.Is(err, ErrExists) ||
						runOf(t, filepath.Join(folder, ReleaseDir)) != want {
						t.Errorf(
							"%skilled at %q: a run without force: %v",
							without, step, err,
						)
					}
				}
				err = Write(t.Context(), folder, numberedFiles(3), true)
				if err != nil ||
					runOf(t, filepath.Join(folder, ReleaseDir)) != 3 {
					t.Errorf("the next run: %v", err)
				}
				nothingLeft(t, folder)
			}
		}
	}
	t.Logf("%d kills", killed)
}

// nothingLeft checks that there is no temporary folder, and no file other than those of a run.
func nothingLeft(t *testing.T, folder string) {
	t.Helper()
	entries, err := os.ReadDir(folder)
	if err != nil || len(entries) != 2 {
		t.Errorf(
			"after the next run: %v, %v",
			entries, err,
		)
	}
}

// TestStaleFoldersOfOthers checks that a run removes the remains of a dead run, but not the files of a live run or of
// a user.
func TestStaleFoldersOfOthers(t *testing.T) {
	folder := t.TempDir()
	live, err := Prepare(folder, false)
	if err != nil {
		t.Fatal(err)
	}
	defer live.Close()
	keep := filepath.Join(folder, stagePrefix+"77", "notes.txt")
	dead := filepath.Join(folder, stagePrefix+"88", CuratorDir)
	outside := filepath.Join(t.TempDir(), "report.json")
	for _, dir := range []string{
		filepath.Dir(keep),
		dead,
		filepath.Join(folder, stagePrefix+"99"),
	} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for _, path := range []string{
		keep,
		filepath.Join(dead, "run.json"),
		outside,
	} {
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	err = os.Symlink(
		filepath.Dir(outside),
		filepath.Join(folder, stagePrefix+"99", ReleaseDir),
	)
	if err != nil { // release/ was a link
		t.Fatal(err)
	}
	if err := Write(t.Context(), folder, numberedFiles(1), false); err != nil {
		t.Fatal(err)
	}
	left, err := filepath.Glob(filepath.Join(folder, ".dptrain-*"))
	if err != nil || !canLock(t, folder) {
		t.Skip("no locks here")
	}
	if len(left) != 2 ||
		!slices.Contains(left, filepath.Dir(keep)) ||
		!slices.Contains(left, live.stage) {
		t.Errorf("left: %q", left)
	}
	for _, path := range []string{keep, outside} {
		if _, err := os.Stat(path); err != nil {
			t.Error(err)
		}
	}
}

func canLock(t *testing.T, folder string) bool {
	t.Helper()
	f, err := os.Open(folder)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	got, _ := filesys.Lock(f)
	return got
}

// childRace writes its run without force, as soon as the file go exists, and prints the outcome.
func childRace(folder, number string) {
	k, err := strconv.Atoi(number)
	if err != nil {
		exitWithError(err)
	}
	f, err := Prepare(filepath.Join(folder, "out"), false)
	if err != nil {
		exitWithError(err)
	}
	fmt.Println("ready")
	for {
		_, err := os.Stat(filepath.Join(folder, "go"))
		if err == nil {
			break
		}
		time.Sleep(time.Millisecond)
	}
	err = f.Commit(context.Background(), numberedFiles(k))
	f.Close()
	switch {
	case err == nil:
		fmt.Println("written")
	case errors.Is(err, ErrExists):
		fmt.Println("exists")
	default:
		exitWithError(err)
	}
}

// TestTwoProcessesOneFolder checks that of two runs for one new folder one is rejected, even if both were admitted
// before either had results, and that the results of the other are complete.
func TestTwoProcessesOneFolder(t *testing.T) {
	for range 3 {
		folder := t.TempDir()
		var cmds [2]*exec.Cmd
		var outs [2]bytes.Buffer
		for i := range cmds {
			cmds[i] = childCommand(t, "race", folder, strconv.Itoa(i+1))
			cmds[i].Stdout = &outs[i]
			if err := cmds[i].Start(); err != nil {
				t.Fatal(err)
			}
		}
		for { // both hold a temporary folder
			stages, _ := filepath.Glob(filepath.Join(
				folder, "out", ".dptrain-*",
			))
			if len(
				stages) == 2 {
				break
			}
			time.Sleep(time.Millisecond)
		}
		err := os.WriteFile(filepath.Join(folder, "go"), nil, 0o600)
		if err != nil {
			t.Fatal(err)
		}
		said := ""
		for i := range cmds {
			if err := cmds[i].Wait(); err != nil {
				t.Fatalf(
					"%v: %s",
					err, outs[i].String(),
				)
			}
			said += outs[i].String()
		}
		if strings.Count(said, "written") != 1 ||
			strings.Count(said, "exists") != 1 {
			t.Errorf("%s", said)
		}
		out := filepath.Join(folder, "out")
		k := runOf(t, filepath.Join(out, ReleaseDir))
		if k == 0 || rowsOf(t, out) != k {
			t.Errorf(
				"run %d with the notes of %d",
				k, rowsOf(t, out),
			)
		}
		left, _ := filepath.Glob(filepath.Join(out, ".dptrain-*"))
		if len(left) > 0 {
			t.Errorf("left: %q", left)
		}
	}
}
