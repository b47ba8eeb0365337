package openapi

// formV3 returns the form of a Document of OpenAPIv3.proto. Members are in the
// order of their names, as in JSON, except those of a response.
func formV3() form {
	var schema form
	// schemas is the form of a schema or a reference to one.
	schemas := either(1, func(m *message, v any) { schema(m, v) }, 2)
	schema = members(36,
		field{"additionalProperties", 32, wrap(1, schemas)},
		field{"allOf", 26, schemas},
		field{"default", 33, defaultV3},
		field{"description", 34, nil},
		field{"enum", 24, anyForm},
		field{"format", 35, nil},
		field{"items", 30, wrap(1, schemas)},
		field{"properties", 31, pairs(1, schemas)},
		field{"required", 23, nil},
		field{"type", 25, nil},
		field{"uniqueItems", 20, nil},
	)
	content := pairs(1, members(0, field{"schema", 1, schemas}))
	parameters := wrap(1, members(14,
		field{"description", 3, nil},
		field{"in", 2, nil},
		field{"name", 1, nil},
		field{"required", 4, nil},
		field{"schema", 10, schemas},
	))
	operation := members(13,
		field{"description", 3, nil},
		field{"operationId", 5, nil},
		field{"parameters", 6, parameters},
		field{"requestBody", 7, wrap(1, members(4, field{"content", 2, content}, field{"required", 3, nil}))},
		field{"responses", 8, pairs(2, wrap(1, members(0, field{"description", 1, nil}, field{"content", 3, content})))},
		field{"tags", 1, nil},
	)
	pathItem := members(14,
		field{"delete", 7, operation},
		field{"get", 4, operation},
		field{"parameters", 13, parameters},
		field{"patch", 10, operation},
		field{"post", 6, operation},
		field{"put", 5, operation},
	)
	return members(9,
		field{"components", 5, members(0, field{"schemas", 1, pairs(1, schemas)})},
		field{"info", 2, members(0, field{"title", 1, nil}, field{"version", 6, nil})},
		field{"openapi", 1, nil},
		field{"paths", 4, pairs(1, pathItem)},
	)
}

// defaultV3 is the form of a DefaultType. It has nothing for {}, nor has gnostic.
func defaultV3(m *message, v any) {
	switch v.(type) {
	case int:
		m.field(1, v, nil)
	case bool:
		m.field(2, v, nil)
	case string:
		m.field(3, v, nil)
	}
}
