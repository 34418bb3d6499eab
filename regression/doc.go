// Package regression provides trained models: the [Model] interface that every trainer returns, the kinds of
// models such as [Linear] and [ClippedLinear], the versioned model file, and exact metrics for public data.
//
// # Guarantees of a model
//
// A model is public: it contains released numbers and declared facts only. For every input column it records
// how training treated the cells, so that new rows are treated in the same way: a missing, unparseable or
// non-finite number is replaced by the declared substitute, then clamped to the column's range; a category
// outside the declared list is "other". Prediction is total on rows: no cell can cause an error, a panic or a
// non-finite prediction. Errors concern columns (absent, of the wrong type, of the wrong length), never cells,
// and no message contains a cell or a number of rows.
//
// Predictions do not depend on the order of rows, the number of threads or the division of rows into batches:
// the sum of each row is computed in the order of the model's terms, without fused multiply-add.
//
// [Model.Predict] predicts many rows, stored by column. [Compile] prepares a model for single records, by name
// or by position, without allocations; the predictions are identical bit for bit.
//
// # Model files
//
// [EncodeModel] and [DecodeModel] write and read "dptrain.model/2", a JSON document with a fixed order of keys
// and the shortest decimal form of every number: equal models have equal bytes. Reading is strict. An unknown,
// repeated or absent key, a value of the wrong type, a number that is not finite, a repeated column name, a
// term without its column or a file above [MaxModelBytes] is rejected with a [DecodeError] that gives the
// position. A model file is data: it cannot cause more work than its size warrants. Files of version 1 can be
// read too.
package regression
