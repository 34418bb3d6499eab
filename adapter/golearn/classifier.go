package golearn

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/sjwhitworth/golearn/base"

	"github.com/dptrain/dptrain/regression"
)

// FitFunc trains a model on a grid: a closure over a pipeline, or a
// non-private baseline for public data.
type FitFunc func(grid base.FixedDataGrid) (regression.Model, error)

// Classifier is a model behind golearn's base.Classifier interface. Fit and the Load methods replace the model
// and must not run concurrently with other calls.
type Classifier struct {
	model regression.Model
	fit   FitFunc
}

var _ base.Classifier = (*Classifier)(nil)

// New returns a classifier that predicts with a trained model. Its Fit returns an error. The model may be nil
// if Load is called later.
func New(model regression.Model) *Classifier {
	return &Classifier{model: model}
}

// NewTrainable returns a classifier whose Fit calls fit.
func NewTrainable(fit FitFunc) *Classifier {
	return &Classifier{fit: fit}
}

// Model returns the model; nil before the first Fit or Load.
func (c *Classifier) Model() regression.Model {
	return c.model
}

// Fit trains on the grid with the function given to [NewTrainable]. Without one
// it returns [ErrNoFit]. A model is kept only when there is no error.
func (c *Classifier) Fit(grid base.FixedDataGrid) error {
	if c.fit == nil {
		return ErrNoFit
	}
	model, err := c.fit(grid)
	if err == nil && model == nil {
		err = ErrNoModel
	}
	if err != nil {
		return err
	}
	c.model = model
	return nil
}

// Predict returns a grid with the same number of rows whose only attribute, a class, holds the predictions. For
// regression the attribute is the grid's own class if it has one, which keeps its precision, and otherwise a
// new one named after the target; for classification it is a new one with the model's classes. The grid is not
// changed.
//
// Errors: [ErrNoModel], [ErrClass] for a grid of several classes, [ErrClassMismatch], [*AttributeError], those
// of the model's Predict.
func (c *Classifier) Predict(grid base.FixedDataGrid) (base.FixedDataGrid, error) {
	if c.model == nil {
		return nil, ErrNoModel
	}
	class, err := c.classFor(grid)
	if err != nil {
		return nil, err
	}
	rows, err := Rows(grid, c.model.Inputs())
	if err != nil {
		return nil, err
	}
	pred, err := c.model.Predict(nil, rows)
	if err != nil {
		return nil, err
	}
	out := base.NewDenseInstances()
	spec := out.AddAttribute(class)
	if err := out.AddClassAttribute(class); err != nil {
		return nil, err
	}
	if err := out.Extend(len(pred)); err != nil {
		return nil, err
	}
	classes := len(c.model.Output().Classes)
	var cell [8]byte
	for i, v := range pred {
		if classes == 0 {
			base.PackFloatToBytesInline(v, cell[:])
		} else {
			if !(v >= 0 && v < float64(classes)) {
				return nil, ErrPrediction
			}
			base.PackU64ToBytesInline(uint64(v), cell[:])
		}
		out.Set(spec, i, cell[:])
	}
	return out, nil
}

// classFor returns the attribute predictions are stored under.
func (c *Classifier) classFor(grid base.FixedDataGrid) (base.Attribute, error) {
	output := c.model.Output()
	given := grid.AllClassAttributes()
	if len(given) > 1 {
		return nil, ErrClass
	}
	if len(given) == 1 {
		if given[0].GetName() != output.Target {
			return nil, ErrClassMismatch
		}
		if _, float := given[0].(*base.FloatAttribute); float != (len(output.Classes) == 0) {
			return nil, ErrClassMismatch
		}
	}
	if len(output.Classes) == 0 {
		if len(given) == 1 {
			return given[0], nil
		}
		return base.NewFloatAttribute(output.Target), nil
	}
	class := base.NewCategoricalAttribute()
	class.SetName(output.Target)
	for _, name := range output.Classes {
		class.GetSysValFromString(name) // adds the value
	}
	return class, nil
}

// String describes the classifier.
func (c *Classifier) String() string {
	if c.model == nil {
		return "dptrain classifier without a model"
	}
	output := c.model.Output()
	return fmt.Sprintf("dptrain %s model of %q from %d columns", c.model.Kind(), output.Target,
		len(c.model.Inputs()))
}

// Save writes the model to a model file, as read by `dptrain predict`. The file is written atomically. Errors:
// [ErrNoModel], those of regression.EncodeModel and of the file system.
func (c *Classifier) Save(path string) error {
	data, err := c.encode()
	if err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".model-*")
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	err = errors.Join(err, f.Chmod(0o644), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return nil
}

// Load reads a model file. The previous model is kept on an error.
func (c *Classifier) Load(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	model, err := regression.DecodeModel(f)
	if err != nil {
		return err
	}
	c.model = model
	return nil
}

// Keys of the metadata that golearn writes for an ensemble.
const (
	metadataName    = "dptrain"
	metadataVersion = "1"
	modelKey        = "MODEL"
)

// GetMetadata identifies the classifier within a golearn ensemble.
func (c *Classifier) GetMetadata() base.ClassifierMetadataV1 {
	return base.ClassifierMetadataV1{
		FormatVersion:      1,
		ClassifierName:     metadataName,
		ClassifierVersion:  metadataVersion,
		ClassifierMetadata: map[string]interface{}{},
	}
}

// SaveWithPrefix writes the model as part of a golearn ensemble. The ensemble
// writes the metadata, and closes the writer.
func (c *Classifier) SaveWithPrefix(
	w *base.ClassifierSerializer,
	prefix string,
) error {
	data, err := c.encode()
	if err != nil {
		return err
	}
	return w.WriteBytesForKey(w.Prefix(prefix, modelKey), data)
}

// LoadWithPrefix reads the output of SaveWithPrefix. It returns [ErrSavedModel] if the part belongs to
// another classifier. On an error the previous model stays.
func (c *Classifier) LoadWithPrefix(
	r *base.ClassifierDeserializer,
	prefix string,
) error {
	metadata, err := r.ReadMetadataAtPrefix(prefix)
	if err != nil {
		return err
	}
	if metadata.ClassifierName != metadataName || metadata.ClassifierVersion != metadataVersion {
		return ErrSavedModel
	}
	data, err := r.GetBytesForKey(r.Prefix(prefix, modelKey))
	if err != nil {
		return err
	}
	model, err := regression.DecodeModel(bytes.NewReader(data))
	if err != nil {
		return err
	}
	c.model = model
	return nil
}

func (c *Classifier) encode() ([]byte, error) {
	if c.model == nil {
		return nil, ErrNoModel
	}
	var buf bytes.Buffer
	if err := regression.EncodeModel(&buf, c.model); err != nil {
		return nil, err
	}
	return buf.Bytes(), nil
}
