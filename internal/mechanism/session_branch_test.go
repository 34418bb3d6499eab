package mechanism

import (
	"errors"
	"testing"

	"github.com/dptrain/dptrain/budget"
)

// branchSession opens a session on a plan with a leaf outside all branches, followed by a choice between two branches. The
// second branch contains another choice.
func branchSession(t *testing.T) *Session {
	t.Helper()
	inner := budget.Branches("inner",
		budget.Sequence("nothing"),
		budget.GaussianLeaf("left", .1, 1),
		budget.Sequence("right", budget.GaussianLeaf("sums", .1, 1)),
	)
	p, err := budget.Calibrate(
		budget.Parallel("fit",
			budget.Branches("train",
				budget.LaplaceLeaf("count", .03, 1),
				budget.Sequence("all",
					budget.GaussianLeaf("sums", .5, 2),
					budget.GaussianLeaf("more", .5, 1),
				),
				budget.Sequence("few", inner, budget.GaussianLeaf("sums", .5, 1)),
			),
		),
		budget.Target{Epsilon: 1, Delta: 1e-6},
	)
	if err != nil {
		t.Fatal(err)
	}
	s, err := NewSession(p)
	if err != nil {
		t.Fatal(err)
	}
	return s.Sub("train")
}

// TestOneBranch checks that the first release in a branch decides the branch, at every level, and that no branch can
// release before the leaf that chooses it. Refused releases spend no budget.
func TestOneBranch(t *testing.T) {
	release := func(s *Session, branch, leaf string, draw int) error {
		_, err := GaussianDraw(s.Sub(branch), leaf, draw, newVector(1))
		return err
	}
	s := branchSession(t)
	err := release(s, "all", "sums", 0)
	if !errors.Is(err, ErrBranch) {
		t.Errorf("a branch before what chooses it: %v", err)
	}
	_, err = Laplace(s, "count", 0, s.Count(1))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		branch, leaf string
		draw         int
		want         error
	}{
		{"all", "sums", 2, ErrSpent}, // refused, so it does not decide the branch
		{"few", "sums", 0, nil}, {"all", "sums", 0, ErrBranch}, {"all", "more", 0, ErrBranch},
		{"few/inner", "left", 0, nil}, {"few/inner/right", "sums", 0, ErrBranch},
		{"few/inner", "left", 0, ErrSpent},
	} {
		err := release(s, c.branch, c.leaf, c.draw)
		if !errors.Is(err, c.want) {
			t.Errorf(
				"%s/%s: %v, want %v",
				c.branch, c.leaf, err, c.want,
			)
		}
	}
	if s.core.spent["fit/train/all/sums"] != nil ||
		s.core.taken["fit/train"] != "fit/train/few" {
		t.Errorf(
			"spent %v, taken %v",
			s.core.spent, s.core.taken,
		)
	}
	again := branchSession(t)
	_, err = Laplace(again, "count", 0, again.Count(1))
	if err != nil {
		t.Fatal(err)
	}
	for _, draw := range []int{1, 0} {
		err := release(again, "all", "sums", draw)
		if err != nil {
			t.Errorf(
				"the other branch, draw %d: %v",
				draw, err,
			)
		}
	}
}

// TestSelectionExcludesOtherReleases checks that no other release and no other selection is possible while a private
// selection is being carried out.
func TestSelectionExcludesOtherReleases(t *testing.T) {
	law, err := budget.SelectionForMean(0, 3)
	if err != nil {
		t.Fatal(err)
	}
	selected := budget.SelectBest("choice",
		law,
		budget.GaussianLeaf("a", .1, 1),
		budget.GaussianLeaf("b", .1, 1),
	)
	other := selected
	other.Name = "other"
	p, err := budget.Calibrate(
		budget.Sequence(
			"fit",
			budget.GaussianLeaf("sums", .1, 2),
			selected, other,
		),
		budget.Target{Epsilon: 1, Delta: 1e-6})
	if err != nil {
		t.Fatal(err)
	}
	s, err := NewSession(p)
	if err != nil {
		t.Fatal(err)
	}
	_, err = Best(s, "choice", func(int, *Session) (int, float64, error) {
		if _, err := GaussianDraw(s, "sums", 0, newVector(1)); !errors.Is(err, ErrTry) {
			t.Errorf("a release beside a try: %v", err)
		}
		_, err := GaussianPart(s, "sums", 1, 0, 2, newVector(1))
		if !errors.Is(err, ErrTry) {
			t.Errorf("a part of one: %v", err)
		}
		_, err = Best(s, "other", func(int, *Session) (int, float64, error) {
			return 0, 0, nil
		})
		if !errors.Is(err, ErrTry) {
			t.Errorf("a selection beside a try: %v", err)
		}
		return 0, 0, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := GaussianDraw(s, "sums", 0, newVector(1)); err != nil {
		t.Errorf("after the selection: %v", err)
	}
}

// TestBestInABranch checks that a private selection inside a branch decides for that branch.
func TestBestInABranch(t *testing.T) {
	law, err := budget.SelectionForMean(0, 3)
	if err != nil {
		t.Fatal(err)
	}
	inside := budget.Branches("way",
		budget.Sequence("none"),
		budget.GaussianLeaf("a", .1, 1),
		budget.GaussianLeaf("b", .1, 1),
	)
	p, err := budget.Calibrate(
		budget.Branches("fit",
			budget.LaplaceLeaf("count", .03, 1),
			budget.Sequence("some",
				budget.SelectBest("choice", law, budget.Sequence("one", inside)),
			),
			budget.GaussianLeaf("sums", .1, 1),
		),
		budget.Target{Epsilon: 1, Delta: 1e-6},
	)
	if err != nil {
		t.Fatal(err)
	}
	s, err := NewSession(p)
	if err != nil {
		t.Fatal(err)
	}
	try := func(_ int, s *Session) (int, float64, error) {
		_, err := GaussianDraw(
			s.Sub("way"), "a",
			0, newVector(1),
		)
		if err == nil {
			_, err := GaussianDraw(
				s.Sub("way"), "b",
				0, newVector(1),
			)
			if !errors.Is(err, ErrBranch) {
				t.Errorf("the other branch inside a try: %v", err)
			}
		}
		return 0, 0, err
	}
	if _, err := Best(s.Sub("some"), "choice", try); !errors.Is(err, ErrBranch) {
		t.Errorf("before what chooses it: %v", err)
	}
	if _, err := Laplace(s, "count", 0, s.Count(1)); err != nil {
		t.Fatal(err)
	}
	if _, err := Best(s.Sub("some"), "choice", try); err != nil {
		t.Errorf("in the branch: %v", err)
	}
	if _, err := GaussianDraw(s, "sums", 0, newVector(1)); !errors.Is(err, ErrBranch) {
		t.Errorf("the other branch: %v", err)
	}
}
