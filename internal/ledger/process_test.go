package ledger

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/dptrain/dptrain/budget"
)

// debits is the number of runs of each of the two processes; scripts/ledger-kill.sh sets it to 1,000.
var debits = flag.Int("debits", 60, "runs that each of the two processes makes")

// The environment variables of a child process: the job and its ledger.
const (
	childJob   = "DPTRAIN_LEDGER_JOB"
	childFile  = "DPTRAIN_LEDGER_FILE"
	childExtra = "DPTRAIN_LEDGER_EXTRA"
)

func TestMain(m *testing.M) {
	flag.Parse()
	switch os.Getenv(childJob) {
	case "":
		os.Exit(m.Run()) //nolint:forbidigo // a TestMain ends its process
	case "debits":
		childDebits()
	case "crash":
		childCrash()
	case "full":
		childFull()
	case "readonly":
		childReadOnly()
	}
}

// childCommand returns a command that starts this program again with a job.
func childCommand(t *testing.T, job, file, extra string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), self)
	cmd.Env = append(
		os.Environ(),
		childJob+"="+job,
		childFile+"="+file,
		childExtra+"="+extra,
	)
	return cmd
}

// exitWithError ends a child process with an error.
func exitWithError(err error) {
	fmt.Println(err)
	os.Exit(3)
}

// childRequest returns a run whose cost depends on k.
func childRequest(k int) Request {
	mu := .002 * float64(1+k%7)
	p, err := budget.Calibrate(
		budget.FixedLeaf("fit", budget.Law{
			Kind:  budget.Gaussian,
			Mu:    mu,
			Draws: 1,
		}),
		budget.Target{Epsilon: 20, Delta: 1e-6})
	if err != nil {
		exitWithError(err)
	}
	return Request{
		Dataset: "houses",
		Plan:    p,
		Method:  "joint-gram",
		Target:  "price",
	}
}

// childDebits repeatedly reserves, commits and then releases: a log line with the cost of a run represents published
// results. It continues from its log until it has made all its runs or the total is spent.
func childDebits() {
	log := os.Getenv(childExtra)
	done, err := os.ReadFile(log)
	if err != nil {
		exitWithError(err)
	}
	f, err := os.OpenFile(log, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		exitWithError(err)
	}
	l := New(os.Getenv(childFile), Options{Wait: time.Minute})
	for k := bytes.Count(done, []byte("\n")); k < *debits; k++ {
		r, err := l.Reserve(context.Background(), childRequest(k))
		if errors.Is(err, ErrSpent) {
			fmt.Fprintln(f, 0)
			continue
		}
		if err == nil {
			err = r.Commit(context.Background(), aRelease)
		}
		if err == nil {
			_, err = fmt.Fprintln(f, r.Charge.Cost)
		}
		if err != nil {
			exitWithError(err)
		}
	}
}

// sumChildLog sums the log of a child.
func sumChildLog(t *testing.T, log string) (cost int64, runs int) {
	t.Helper()
	data, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range strings.Fields(string(data)) {
		c, err := strconv.ParseInt(line, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		cost += c
		runs++
	}
	return cost, runs
}

// TestTwoProcessesKilled runs two processes that debit one ledger and are repeatedly killed at random times. The sum
// in the ledger must never be below the sum of the releases, and never above the total.
func TestTwoProcessesKilled(t *testing.T) {
	file := filepath.Join(t.TempDir(), "my.ledger")
	l := New(file, Options{Wait: time.Minute})
	// Runs cost rho 4e-5 on average; the total admits about three quarters of all runs.
	rho := 4e-5 * 2 * float64(*debits) * .75
	promise := budget.Total{Epsilon: budget.ZCDPEpsilon(rho, 1e-5), Delta: 1e-5}
	_, err := l.Register(t.Context(), "houses", promise)
	if err != nil {
		t.Fatal(err)
	}
	random := rand.New(rand.NewPCG(5, 6))
	var logs [2]string
	kills := [2]int{}
	results := make(chan error, 2)
	for i := range logs {
		logs[i] = filepath.Join(t.TempDir(), "log")
		if err := os.WriteFile(logs[i], nil, 0o600); err != nil {
			t.Fatal(err)
		}
		seed := random.Uint64()
		go func() {
			results <- killRepeatedly(t, file, logs[i], seed, &kills[i])
		}()
	}
	finished := 0
	check := func() {
		var out int64
		for _, log := range logs {
			cost, _ := sumChildLog(t, log)
			out += cost
		}
		a := readAccount(t, l, "houses") // read after the logs, because spending only grows
		if a.Spent().Cost < out ||
			!a.Spent().FitsIn(a.Limit) {
			t.Errorf(
				"released %d, spent %d, limit %d",
				out, a.Spent().Cost,
				a.Limit.Cost,
			)
		}
	}
	for finished < 2 {
		select {
		case err := <-results:
			if finished++; err != nil {
				t.Error(err)
			}
		case <-time.After(100 * time.Millisecond):
		}
		check()
	}
	a := readAccount(t, l, "houses")
	if _, err := l.Verify(t.Context()); err != nil {
		t.Error(err)
	}
	var runs int
	for _, log := range logs {
		_, n := sumChildLog(t, log)
		runs += n
	}
	if runs != 2**debits ||
		a.Left().Cost > a.Limit.Cost/10 {
		t.Errorf(
			"%d runs, %d left of %d",
			runs, a.Left().Cost,
			a.Limit.Cost,
		)
	}
	t.Logf(
		"%d runs, %v kills, %d entries, %d reserved for good",
		runs,
		kills,
		len(mustRead(t, l).Entries),
		a.Reserved.Cost,
	)
}

// killRepeatedly runs a child until it ends by itself, killing it after random times that increase, so that it ends
// eventually.
func killRepeatedly(t *testing.T, file, log string, seed uint64, kills *int) error {
	random := rand.New(rand.NewPCG(seed, 1))
	for patience := 60; ; patience += 10 {
		cmd := childCommand(t, "debits", file, log)
		cmd.Args = append(cmd.Args, "-debits", strconv.Itoa(*debits))
		var out bytes.Buffer
		cmd.Stdout = &out
		if err := cmd.Start(); err != nil {
			return err
		}
		timer := time.AfterFunc(time.Duration(5+random.IntN(patience))*time.Millisecond, func() {
			_ = cmd.Process.Kill()
		})
		err := cmd.Wait()
		timer.Stop()
		switch {
		case err == nil:
			return nil
		case cmd.ProcessState.ExitCode() >= 0:
			return fmt.Errorf("%w: %s", err, out.String())
		}
		*kills++
	}
}

// crashChild runs a child that kills itself at a step of a job.
func crashChild(t *testing.T, file, job, step string) {
	t.Helper()
	out, err := childCommand(t, "crash", file, job+" "+step).CombinedOutput()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != -1 {
		t.Fatalf(
			"%s, %s: %v, %s",
			job, step, err, out,
		)
	}
}

// childCrash carries out one job and kills itself at the given step.
func childCrash() {
	job, step, _ := strings.Cut(os.Getenv(childExtra), " ")
	l := New(os.Getenv(childFile), Options{})
	armed := false
	l.hook = func(name string) error {
		if armed && name == step {
			p, err := os.FindProcess(os.Getpid())
			if err == nil {
				err = p.Kill()
			}
			if err != nil {
				exitWithError(err)
			}
			select {}
		}
		return nil
	}
	ctx := context.Background()
	switch job {
	case "register":
		armed = true
		_, err := l.Register(ctx, "houses", testTotal(budget.ZCDP))
		if err != nil {
			exitWithError(err)
		}
	case "reserve", "commit":
		armed = job == "reserve"
		r, err := l.Reserve(ctx, childRequest(3))
		if err != nil {
			exitWithError(err)
		}
		armed = true
		if err := r.Commit(ctx, aRelease); err != nil {
			exitWithError(err)
		}
	}
	exitWithError(errors.New("the step never came"))
}

// TestKilledAtEveryStep kills a process at every step of writing. Budget reported as spent must be spent, budget not
// yet reported may be spent, and no other budget may be spent.
func TestKilledAtEveryStep(t *testing.T) {
	one := childRequest(3).Plan.Charge(budget.ZCDP)
	tests := []struct {
		job, step           string
		reserved, committed bool
	}{
		{"reserve", "opened", false, false},
		{"reserve", "put", false, false},
		{"reserve", "synced", true, false},
		{"commit", "opened", true, false},
		{"commit", "put", true, false},
		{"commit", "synced", false, true},
	}
	for _, tt := range tests {
		l := newLedger(t, budget.ZCDP)
		crashChild(t, l.path, tt.job, tt.step)
		a := readAccount(t, l, "houses")
		if (a.Reserved == one) != tt.reserved ||
			(a.Committed == one) != tt.committed {
			t.Errorf(
				"%s, killed at %s: reserved %v, committed %v",
				tt.job,
				tt.step,
				a.Reserved,
				a.Committed,
			)
		}
		_, err := l.Reserve(t.Context(), childRequest(1))
		if err != nil {
			t.Errorf(
				"%s, killed at %s: the next run: %v",
				tt.job, tt.step, err,
			)
		}
		if _, err := l.Verify(t.Context()); err != nil {
			t.Error(err)
		}
	}
	for step, exists := range map[string]bool{"written": false, "linked": true} {
		l := New(filepath.Join(t.TempDir(), "my.ledger"), Options{})
		crashChild(t, l.path, "register", step)
		_, err := l.Read(t.Context())
		if (err == nil) != exists ||
			err != nil && !errors.Is(err, ErrUnreadable) {
			t.Errorf(
				"register, killed at %s: %v",
				step, err,
			)
		}
		_, err = l.Register(t.Context(), "houses", testTotal(budget.ZCDP))
		if err != nil && !exists || exists && !errors.Is(err, ErrExists) {
			t.Errorf("again after %s: %v", step, err)
		}
		if left, err := os.ReadDir(filepath.Dir(l.path)); err != nil || len(left) != 1 {
			t.Errorf(
				"left after %s and the next command: %v, %v",
				step, left, err,
			)
		}
	}
}
