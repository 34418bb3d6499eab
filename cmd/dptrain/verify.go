package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/dptrain/dptrain/internal/ledger"
	"github.com/dptrain/dptrain/internal/publish/report"
	"github.com/dptrain/dptrain/internal/recipe"
	"github.com/dptrain/dptrain/internal/sys/fault"
)

const verifyLong = `Check that a release is consistent. The table is not needed. The privacy cost of
the steps is recomputed, the recipe is planned again and compared step by step,
and the report is compared with its checksum, the model, the recipe and the
ledger. Each check is ok, failed or skipped (with the reason).

Everything is recomputed by this version of dptrain. If someone replaced the
coefficients of the model together with all checksums, only a signature reveals
it: the publisher signs with ` + "`dptrain sign`" + `, and you give their public key with
--key.

RELEASE is the output folder of fit, or its release folder. A dptrain.ledger in
the working directory, in RELEASE or above it is found without --ledger. Given
several releases, verify also checks that no two of them claim the same ledger
entry, which belongs to a single run.`

func verifyCommand(a *app) *cobra.Command {
	var ledgerPath, key string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "verify RELEASE...",
		Short: "Check that a release is consistent",
		Long:  verifyLong,
		Example: `  dptrain verify out/release
  dptrain verify out/release --ledger dptrain.ledger
  dptrain verify out/release --key publisher.pub`,
		Args: between(
			1,
			math.MaxInt,
			"the output folders of runs, or their release folders",
		),
		RunE: func(cmd *cobra.Command, args []string) error {
			if cmd.Flags().Changed("ledger") && ledgerPath == "" {
				return usagef("--ledger is empty: give a file or omit the flag")
			}
			o := report.VerifyOptions{}
			if cmd.Flags().Changed("key") {
				public, err := readPublicKey(key)
				if err != nil {
					return err
				}
				o.Key = &public
			}
			return a.verifyAll(cmd.Context(), args, ledgerPath, o, asJSON)
		},
	}
	cmd.Flags().SortFlags = false
	cmd.Flags().StringVar(&ledgerPath, "ledger", "",
		"ledger `FILE` in which the run was recorded")
	cmd.Flags().StringVar(&key, "key", "",
		"also check the signature with the public `KEY` of the publisher, a file or its text")
	jsonFlag(cmd, &asJSON, oneObject)
	return cmd
}

// verifyFormat is the value of the key "format" of `verify --json`.
const verifyFormat = "dptrain.verify/1"

// verified is the result of verify, as printed by `verify --json`.
type verified struct {
	Format  string          `json:"format"`
	Release string          `json:"release"`
	OK      bool            `json:"ok"` // no check failed
	Checks  []verifiedCheck `json:"checks"`
}

type verifiedCheck struct {
	Name  string       `json:"name"`
	State report.State `json:"state"` // ok, does not fit or not checked
	Text  []string     `json:"text"`
}

// showVerification prints the results of the checks.
func (a *app) showVerification(
	dir string,
	v *report.Verification,
	asJSON bool,
) error {
	if !asJSON {
		return v.Text(a.stdout)
	}
	out := verified{verifyFormat, dir, v.Misfits() == 0, []verifiedCheck{}}
	for _, c := range v.Checks {
		out.Checks = append(out.Checks, verifiedCheck{c.Name, c.State, c.Text})
	}
	return writeJSON(a.stdout, out)
}

// verifyAll checks releases one after another, comparing each with the others. It returns the first error.
func (a *app) verifyAll(
	ctx context.Context,
	paths []string,
	ledgerPath string,
	options report.VerifyOptions,
	asJSON bool,
) error {
	claims := make([]*ledger.Claim, len(paths))
	for i, path := range paths {
		claims[i] = claimAt(released(path).report)
	}
	var first error
	for i, path := range paths {
		o := options
		for j, claim := range claims {
			if j != i && claim != nil {
				o.Others = append(o.Others, *claim)
			}
		}
		if len(paths) > 1 && !asJSON {
			if _, err := fmt.Fprintf(a.stdout, "%s\n", printable(path)); err != nil {
				return err
			}
		}
		err := a.verify(ctx, path, ledgerPath, o, asJSON)
		if first == nil {
			first = err
		}
		if errors.Is(err, context.Canceled) {
			return err
		}
	}
	return first
}

// claimAt returns the ledger entry claimed by the release with the report at path. It returns nil if the report
// names no ledger or cannot be read; the check of that release reports the latter.
func claimAt(path string) *ledger.Claim {
	claim, entered, err := report.ReadClaim(accountAt(path))
	if err != nil || entered == nil {
		return nil
	}
	return &claim
}

// verify checks the release at path and prints the result. It fills in the ledger of the options.
func (a *app) verify(
	ctx context.Context,
	path, ledgerPath string,
	options report.VerifyOptions,
	asJSON bool,
) error {
	dir, v, err := a.verification(ctx, path, ledgerPath, options)
	if err != nil {
		return err
	}
	if err := a.showVerification(dir, v, asJSON); err != nil {
		return err
	}
	if err := v.Err(); err != nil {
		return fmt.Errorf("%s: %w", dir, err)
	}
	return nil
}

// verification checks the release at path and returns its folder. It fills in the ledger of the options.
func (a *app) verification(
	ctx context.Context,
	path, ledgerPath string,
	options report.VerifyOptions,
) (string, *report.Verification, error) {
	at := released(path)
	dir := filepath.Dir(at.report)
	read := readReport
	from := at.report
	if path := accountAt(at.report); isTaskReport(path) {
		read = readTaskReport
		from = path
	}
	r, err := read(from)
	if err != nil {
		return dir, nil, err
	}
	if ledgerPath == "" && r.Ledger != nil {
		ledgerPath = findLedger(ctx, dir, r.Ledger.Dataset)
	}
	if ledgerPath != "" {
		options.Ledger = a.openLedger(ledgerPath)
	}
	target := dir
	if isTaskReport(from) {
		target = from
	}
	v, err := report.Verify(ctx, target, options)
	switch {
	case hasType[*ledger.FileError](err), errors.Is(err, context.Canceled):
		return dir, nil, err
	case err != nil:
		return dir, nil, fault.WithKind(fault.Data, err)
	}
	return dir, v, nil
}

// findLedger searches for a ledger with the usual file name near a release, and returns one that contains the data
// set. A published recipe does not contain the path of the ledger.
func findLedger(ctx context.Context, dir, dataset string) string {
	for _, folder := range []string{".", dir, filepath.Join(dir, ".."),
		filepath.Join(dir, "..", "..")} {
		path := filepath.Join(folder, recipe.DefaultLedger)
		if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if _, err := ledger.New(path, ledger.Options{}).Account(ctx, dataset); err == nil {
			return path
		}
	}
	return ""
}
