package main

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// endingContext is a context that ends after left calls of Err.
type endingContext struct {
	context.Context
	left, calls int
}

func (c *endingContext) Err() error {
	c.calls++
	if c.calls > c.left {
		return context.Canceled
	}
	return nil
}

// TestPreparationEndsWithItsContext checks that before a row is read, a run ends at the first check of the context
// that reports its end.
func TestPreparationEndsWithItsContext(t *testing.T) {
	table := filepath.Join(t.TempDir(), "t.csv")
	var names strings.Builder
	for i := range 500 {
		names.WriteString("x" + strings.Repeat("i", i) + ",")
	}
	if err := os.WriteFile(table, []byte(names.String()+"y\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	prepare := func(left int) (*endingContext, error) {
		flags := recipeFlags{stdin: strings.NewReader(""), notes: &bytes.Buffer{}}
		recipe := filepath.Join(filepath.Dir(table), "r.yaml")
		text := "data: {path: t.csv, target: y, undeclared: numbers}\nprivacy: {epsilon: 1}\n"
		if err := os.WriteFile(recipe, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		j, err := flags.load([]string{recipe})
		if err != nil {
			t.Fatal(err)
		}
		ctx := &endingContext{Context: t.Context(), left: left}
		_, _, err = j.prepare(ctx)
		return ctx, err
	}
	whole, err := prepare(1 << 30)
	if err != nil {
		t.Fatal(err)
	}
	if whole.calls < 7 {
		t.Errorf("the context was checked %d times", whole.calls)
	}
	for left := range whole.calls {
		ctx, err := prepare(left)
		if !errors.Is(err, context.Canceled) || ctx.calls > left+3 {
			t.Errorf(
				"ended at check %d, checked %d times: %v",
				left+1, ctx.calls, err,
			)
		}
	}
}
