package fault

import (
	"errors"
	"fmt"
	"testing"
)

func TestKindOf(t *testing.T) {
	sentinel := New(Budget, "too little")
	wrapped := fmt.Errorf(
		"here: %w",
		&Error{
			Kind:    Recipe,
			Field:   "a.b",
			Message: "no",
			Hint:    "say yes",
			Err:     sentinel,
		},
	)
	for _, c := range []struct {
		err  error
		kind Kind
		text string
	}{
		{errors.New("?"), Internal, "?"},
		{sentinel, Budget, "too little"},
		{fmt.Errorf("%w: 3", sentinel), Budget, "too little: 3"},
		{wrapped, Recipe, "here: no; say yes"},
		{WithKind(Data, wrapped), Data, "here: no; say yes"},
		{
			errors.Join(errors.New("?"), sentinel),
			Budget, "?\ntoo little",
		},
	} {
		if KindOf(c.err) != c.kind ||
			c.err.Error() != c.text {
			t.Errorf(
				"%q of kind %v, want %q of %v",
				c.err, KindOf(c.err),
				c.text, c.kind,
			)
		}
	}
	var e *Error
	if !errors.Is(wrapped, sentinel) ||
		!errors.As(wrapped, &e) ||
		e.Field != "a.b" {
		t.Error("the error is not what it wraps")
	}
	if WithKind(Data, nil) != nil || KindOf(nil) != Internal {
		t.Error("no error has a kind")
	}
}
