package openapi

// encodeV2 appends a Document of OpenAPIv2.proto.
func encodeV2(m *message, o object) {
	each(o, func(name string, v any) {
		switch name {
		case "swagger":
			m.text(1, v)
		case "info":
			m.object(2, v, infoV2)
		case "paths":
			m.message(8, func(m *message) { m.named(2, v, pathItemV2) })
		case "definitions":
			m.message(9, func(m *message) { m.named(1, v, schemaV2) })
		case "parameters":
			m.message(10, func(m *message) { m.named(1, v, parameterV2) })
		default:
			m.extension("Document", 16, name, v)
		}
	})
}

func infoV2(m *message, o object) {
	m.text(1, o["title"])
	m.text(2, o["version"])
}

func pathItemV2(m *message, o object) {
	each(o, func(name string, v any) {
		switch name {
		case "get":
			m.object(2, v, operationV2)
		case "put":
			m.object(3, v, operationV2)
		case "post":
			m.object(4, v, operationV2)
		case "delete":
			m.object(5, v, operationV2)
		case "patch":
			m.object(8, v, operationV2)
		case "parameters":
			m.objects(9, v, either(1, parameterV2, 2))
		default:
			m.extension("PathItem", 10, name, v)
		}
	})
}

func operationV2(m *message, o object) {
	each(o, func(name string, v any) {
		switch name {
		case "tags":
			m.texts(1, v)
		case "description":
			m.text(3, v)
		case "operationId":
			m.text(5, v)
		case "produces":
			m.texts(6, v)
		case "consumes":
			m.texts(7, v)
		case "parameters":
			m.objects(8, v, either(1, parameterV2, 2))
		case "responses":
			m.message(9, func(m *message) { m.named(1, v, wrap(1, responseV2)) })
		case "schemes":
			m.texts(10, v)
		default:
			m.extension("Operation", 13, name, v)
		}
	})
}

func responseV2(m *message, o object) {
	m.text(1, o["description"])
	m.object(2, o["schema"], wrap(1, schemaV2))
}

func parameterV2(m *message, o object) {
	switch o["in"] {
	case "body":
		m.object(1, o, bodyParameterV2)
	case "query":
		m.object(2, o, wrap(3, queryParameterV2))
	case "path":
		m.object(2, o, wrap(4, pathParameterV2))
	default:
		unknown("Parameter", "in", o["in"])
	}
}

func bodyParameterV2(m *message, o object) {
	each(o, func(name string, v any) {
		switch name {
		case "description":
			m.text(1, v)
		case "name":
			m.text(2, v)
		case "in":
			m.text(3, v)
		case "required":
			m.flag(4, v)
		case "schema":
			m.object(5, v, schemaV2)
		default:
			m.extension("BodyParameter", 6, name, v)
		}
	})
}

func queryParameterV2(m *message, o object) {
	each(o, func(name string, v any) {
		switch name {
		case "type":
			m.text(6, v)
		case "uniqueItems":
			m.flag(20, v)
		default:
			m.nonBodyParameterV2(name, v)
		}
	})
}

func pathParameterV2(m *message, o object) {
	each(o, func(name string, v any) {
		switch name {
		case "type":
			m.text(5, v)
		case "uniqueItems":
			m.flag(19, v)
		default:
			m.nonBodyParameterV2(name, v)
		}
	})
}

// nonBodyParameterV2 appends what parameters in the query and in the path have
// in common.
func (m *message) nonBodyParameterV2(name string, v any) {
	switch name {
	case "required":
		m.flag(1, v)
	case "in":
		m.text(2, v)
	case "description":
		m.text(3, v)
	case "name":
		m.text(4, v)
	default:
		unknown("NonBodyParameter", name, v)
	}
}

func schemaV2(m *message, o object) {
	each(o, func(name string, v any) {
		switch name {
		case "$ref":
			m.text(1, v)
		case "format":
			m.text(2, v)
		case "description":
			m.text(4, v)
		case "required":
			m.texts(19, v)
		case "enum":
			for _, value := range v.([]string) {
				m.any(20, value)
			}
		case "additionalProperties":
			m.object(21, v, wrap(1, schemaV2))
		case "type":
			m.message(22, func(m *message) { m.text(1, v) })
		case "items":
			m.object(23, v, wrap(1, schemaV2))
		case "properties":
			m.message(25, func(m *message) { m.named(1, v, schemaV2) })
		default:
			m.extension("Schema", 31, name, v)
		}
	})
}
