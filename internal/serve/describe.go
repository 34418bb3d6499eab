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

// openAPI answers with a description of the routes for this model in OpenAPI 3.1.
func (s *Server) openAPI(w http.ResponseWriter, _ *http.Request) {
	served := s.model.Load()
	type object = map[string]any
	cells, required := object{}, []string{}
	for _, c := range served.model.Inputs() {
		x := object{"type": []string{"number", "string", "null"}, "description": "a number; any other value counts as missing"}
		if c.Text() {
			x = object{"type": []string{"string", "number", "boolean", "null"}, "examples": append([]string{}, c.Categories...)}
		}
		cells[c.Name] = x
		required = append(required, c.Name)
	}
	predicted := object{"type": "number", "description": served.output.Target}
	if len(served.output.Classes) > 0 {
		predicted = object{"type": "string", "enum": served.output.Classes, "description": served.output.Target}
	}
	number := object{"type": "number"}
	ok := func(description string, content object) object {
		return object{"200": object{"description": description, "content": content}, "default": object{"$ref": "#/components/responses/Problem"}}
	}
	json := func(schema object) object { return object{"application/json": object{"schema": schema}} }
	ref := func(name string) object { return object{"$ref": "#/components/schemas/" + name} }
	lines := object{"application/x-ndjson": object{"schema": object{"type": "string"}}, "text/csv": object{"schema": object{"type": "string"}}}
	bodies := func(list object) object {
		out := json(list)
		for kind, x := range lines {
			out[kind] = x
		}
		return out
	}
	get := func(summary string, answer object) object {
		return object{"get": object{"summary": summary, "responses": answer}}
	}
	writeJSON(w, object{
		"openapi": "3.1.0",
		"info":    object{"title": "Predictions of " + served.output.Target, "version": "1"},
		"paths": object{
			"/predict": object{"post": object{
				"summary":     "Predict for records",
				"parameters":  []object{{"name": "interval", "in": "query", "schema": number, "description": "level of a prediction interval of the model"}},
				"requestBody": object{"required": true, "content": bodies(object{"type": "object", "required": []string{"records"}, "properties": object{"records": object{"type": "array", "items": ref("Record")}}})},
				"responses":   ok("one prediction per record, in their order", bodies(object{"type": "object", "properties": object{"predictions": object{"type": "array", "items": ref("Prediction")}}})),
			}},
			"/model":   get("Target and inputs of the model", ok("the model", json(object{"type": "object"}))),
			"/health":  get("Whether the server is running", ok("it does", json(object{"type": "object"}))),
			"/ready":   get("Whether the server accepts new requests", ok("it does", json(object{"type": "object"}))),
			"/metrics": get("Metrics for Prometheus", ok("counts", object{"text/plain": object{"schema": object{"type": "string"}}})),
		},
		"components": object{
			"schemas": object{
				"Record": object{"type": "object", "properties": cells, "required": required},
				"Prediction": object{"type": "object", "required": []string{"prediction"}, "properties": object{
					"prediction": predicted, "lower": number, "upper": number,
					"probabilities": object{"type": "object", "additionalProperties": number},
				}},
			},
			"responses": object{"Problem": object{"description": "why the request was rejected", "content": json(object{
				"type":       "object",
				"properties": object{"error": object{"type": "object", "properties": object{"message": object{"type": "string"}, "record": object{"type": "integer"}}}},
			})}},
		},
	})
}
