// Package regression holds what a trained model is: the [Model] interface
// every trainer returns, the [Linear] and [ClippedLinear] models, the
// versioned file a model is kept in, and the metrics it is judged by.
//
// # What a model promises
//
// A model is public: it contains released numbers and declared facts only. It
// carries, for every input column, the treatment its training rows received,
// so that a new row is treated in the same way: a missing, unparseable or
// non-finite number takes the declared substitute, then the number is clamped
// to the column's range; a category outside the declared list is "other".
// Prediction is total on rows: no cell can cause an error, a panic or a
// non-finite prediction. Errors are about columns (absent, of the wrong type,
// of the wrong length), never about cells, and no message contains a cell or a
// count of rows.
//
// Predictions do not depend on the order of rows, on the number of threads or
// on how rows are cut into batches: each row's sum is added up in the order of
// the model's terms, without fused multiply-add.
//
// [Model.Predict] takes many rows by column. [Compile] prepares a model for single records, by name or
// by position, which then cost no allocation; the predictions are the same bit for bit.
//
// # Model files
//
// [EncodeModel] and [DecodeModel] write and read "dptrain.model/2", a JSON
// document with a fixed order of keys and the shortest decimal form of every
// number: equal models give equal bytes. Reading is strict. An unknown,
// repeated or absent key, a value of the wrong type, a number that is not
// finite, a column named twice, a term without its column or a file above
// [MaxModelBytes] is refused with a [DecodeError] that says where. A model file
// is data: nothing in it can cause more work than its size. Files of version 1
// are read too.
package regression
