package openapi

import "fmt"

// formV2 returns the form of a Document of OpenAPIv2.proto. Members are in the
// order of their names, as in JSON.
func formV2() form {
	var schema form
	inner := func(m *message, v any) { schema(m, v) } // of the schemas in a schema
	schema = members(31,
		field{"$ref", 1, nil},
		field{"additionalProperties", 21, wrap(1, inner)},
		field{"description", 4, nil},
		field{"enum", 20, anyForm},
		field{"format", 2, nil},
		field{"items", 23, wrap(1, inner)},
		field{"properties", 25, pairs(1, inner)},
		field{"required", 19, nil},
		field{"type", 22, wrap(1, nil)},
	)
	parameter := parameterV2(schema)
	parameters := either(1, parameter, 2)
	operation := members(13,
		field{"consumes", 7, nil},
		field{"description", 3, nil},
		field{"operationId", 5, nil},
		field{"parameters", 8, parameters},
		field{"produces", 6, nil},
		field{"responses", 9, pairs(1, wrap(1, members(0,
			field{"description", 1, nil},
			field{"schema", 2, wrap(1, schema)},
		)))},
		field{"schemes", 10, nil},
		field{"tags", 1, nil},
	)
	pathItem := members(10,
		field{"delete", 5, operation},
		field{"get", 2, operation},
		field{"parameters", 9, parameters},
		field{"patch", 8, operation},
		field{"post", 4, operation},
		field{"put", 3, operation},
	)
	return members(16,
		field{"definitions", 9, pairs(1, schema)},
		field{"info", 2, members(0, field{"title", 1, nil}, field{"version", 2, nil})},
		field{"parameters", 10, pairs(1, parameter)},
		field{"paths", 8, pairs(2, pathItem)},
		field{"swagger", 1, nil},
	)
}

// parameterV2 returns the form of a Parameter, which depends on its place.
func parameterV2(schema form) form {
	body := members(6,
		field{"description", 1, nil},
		field{"in", 3, nil},
		field{"name", 2, nil},
		field{"required", 4, nil},
		field{"schema", 5, schema},
	)
	head := []field{{"description", 3, nil}, {"in", 2, nil}, {"name", 4, nil}, {"required", 1, nil}}
	query := members(0, append(head[:4:4], field{"type", 6, nil}, field{"uniqueItems", 20, nil})...)
	path := members(0, append(head[:4:4], field{"type", 5, nil}, field{"uniqueItems", 19, nil})...)
	return func(m *message, v any) {
		switch in := v.(object)["in"]; in {
		case "body":
			m.message(1, v, body)
		case "query":
			m.message(2, v, wrap(3, query))
		case "path":
			m.message(2, v, wrap(4, path))
		default:
			panic(fmt.Sprintf("openapi: no form for a parameter in %q", in)) // trees are only built by this package
		}
	}
}
