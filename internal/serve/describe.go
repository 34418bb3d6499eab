package serve

import (
	"net/http"

	"github.com/dptrain/dptrain/regression"
)

// handleDescribe answers with the target, the inputs and the guarantee of the model, the hash of its file, and the
// version of the program.
func (s *Server) handleDescribe(w http.ResponseWriter, _ *http.Request) {
	served := s.model.Load()
	var inputs []map[string]any
	for _, c := range served.model.Inputs() {
		x := map[string]any{"name": c.Name}
		if c.Text() {
			x["type"] = "category"
			x["categories"] = append([]string{}, c.Categories...)
			x["other"] = c.Other || c.Values != nil
		} else {
			x["type"] = "numeric"
			x["lower"] = c.Lower
			x["upper"] = c.Upper
		}
		inputs = append(inputs, x)
	}
	out := map[string]any{
		"kind":   served.model.Kind(),
		"task":   served.output.Task,
		"target": served.output.Target,
		"inputs": inputs,
	}
	if len(served.output.Classes) > 0 {
		out["classes"] = served.output.Classes
	}
	if l := regression.LinearPart(served.model); l != nil && l.Back != nil {
		out["target_transform"] = l.Back
	}
	if list := regression.IntervalsOf(served.model); len(list) > 0 {
		out["intervals"] = list
	}
	out["guarantee"] = guaranteeOf(served.model)
	if served.hash != "" {
		out["sha256"] = served.hash
	}
	if served.program != "" {
		out["program"] = served.program
	}
	writeJSON(w, out)
}

// guaranteeOf returns the guarantee of a model, or nil if it was trained without privacy.
func guaranteeOf(m regression.Model) *regression.Guarantee {
	if c, ok := m.(*regression.Classifier); ok {
		return c.Guarantee
	}
	if l := regression.LinearPart(m); l != nil {
		return l.Guarantee
	}
	return nil
}

// object is an object of a description in OpenAPI.
type object = map[string]any

// openAPI answers with a description of the routes for this model in OpenAPI 3.1.
func (s *Server) openAPI(w http.ResponseWriter, _ *http.Request) {
	served := s.model.Load()
	anyObject := jsonContent(typeSchema("object"))
	writeJSON(w, object{
		"openapi": "3.1.0",
		"info": object{
			"title":   "Predictions of " + served.output.Target,
			"version": "1",
		},
		"paths": object{
			"/predict": object{"post": predictOperation()},
			"/model":   getPath("Target and inputs of the model", "the model", anyObject),
			"/health":  getPath("Whether the server is running", "the server is running", anyObject),
			"/ready":   getPath("Whether the server accepts new requests", "the server accepts requests", anyObject),
			"/metrics": getPath("Metrics for Prometheus", "counts", object{"text/plain": textBody()}),
		},
		"components": object{
			"schemas": object{
				"Record":     recordSchema(served.model.Inputs()),
				"Prediction": predictionSchema(served.output),
			},
			"responses": object{
				"Problem": problemResponse(),
			},
		},
	})
}

// predictOperation describes the route that predicts.
func predictOperation() object {
	return object{
		"summary": "Predict for records",
		"parameters": []object{{
			"name":        "interval",
			"in":          "query",
			"schema":      typeSchema("number"),
			"description": "level of a prediction interval of the model",
		}},
		"requestBody": object{
			"required": true,
			"content": rowsContent(object{
				"type":       "object",
				"required":   []string{"records"},
				"properties": object{"records": listSchema("Record")},
			}),
		},
		"responses": okResponses("one prediction per record, in their order", rowsContent(object{
			"type":       "object",
			"properties": object{"predictions": listSchema("Prediction")},
		})),
	}
}

// getPath describes a route that answers GET.
func getPath(summary, answer string, content object) object {
	return object{
		"get": object{
			"summary":   summary,
			"responses": okResponses(answer, content),
		},
	}
}

// okResponses describes the answers of a route: 200 with this content, or a problem.
func okResponses(description string, content object) object {
	return object{
		"200": object{
			"description": description,
			"content":     content,
		},
		"default": object{"$ref": "#/components/responses/Problem"},
	}
}

// jsonContent describes a JSON body.
func jsonContent(schema object) object {
	return object{"application/json": object{"schema": schema}}
}

// textBody describes a body of text.
func textBody() object {
	return object{"schema": typeSchema("string")}
}

// rowsContent describes a body of rows, in JSON with this schema or as text with a row on each line.
func rowsContent(schema object) object {
	content := jsonContent(schema)
	content["application/x-ndjson"] = textBody()
	content["text/csv"] = textBody()
	return content
}

func typeSchema(name string) object {
	return object{"type": name}
}

// listSchema describes a list of items that have a schema of this name.
func listSchema(name string) object {
	return object{
		"type":  "array",
		"items": object{"$ref": "#/components/schemas/" + name},
	}
}

// recordSchema describes a record: one cell per input.
func recordSchema(inputs []regression.Column) object {
	cells := object{}
	required := []string{}
	for _, c := range inputs {
		cells[c.Name] = cellSchema(c)
		required = append(required, c.Name)
	}
	return object{
		"type":       "object",
		"properties": cells,
		"required":   required,
	}
}

func cellSchema(c regression.Column) object {
	if c.Text() {
		return object{
			"type":     []string{"string", "number", "boolean", "null"},
			"examples": append([]string{}, c.Categories...),
		}
	}
	return object{
		"type":        []string{"number", "string", "null"},
		"description": "a number; any other value counts as missing",
	}
}

// predictionSchema describes the prediction for a record.
func predictionSchema(output regression.Output) object {
	number := typeSchema("number")
	predicted := object{
		"type":        "number",
		"description": output.Target,
	}
	if len(output.Classes) > 0 {
		predicted["type"] = "string"
		predicted["enum"] = output.Classes
	}
	return object{
		"type":     "object",
		"required": []string{"prediction"},
		"properties": object{
			"prediction": predicted,
			"lower":      number,
			"upper":      number,
			"probabilities": object{
				"type":                 "object",
				"additionalProperties": number,
			},
		},
	}
}

// problemResponse describes the answer to a request that is rejected.
func problemResponse() object {
	problem := object{
		"type": "object",
		"properties": object{
			"message": typeSchema("string"),
			"record":  typeSchema("integer"),
		},
	}
	return object{
		"description": "why the request was rejected",
		"content": jsonContent(object{
			"type":       "object",
			"properties": object{"error": problem},
		}),
	}
}
