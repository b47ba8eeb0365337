package openapi

// encodeV3 appends a Document of OpenAPIv3.proto.
func encodeV3(m *message, o object) {
	each(o, func(name string, v any) {
		switch name {
		case "openapi":
			m.text(1, v)
		case "info":
			m.object(2, v, infoV3)
		case "paths":
			m.message(4, func(m *message) { m.named(1, v, pathItemV3) })
		case "components":
			m.object(5, v, componentsV3)
		default:
			m.extension("Document", 9, name, v)
		}
	})
}

func infoV3(m *message, o object) {
	m.text(1, o["title"])
	m.text(6, o["version"])
}

func componentsV3(m *message, o object) {
	m.message(1, func(m *message) { m.named(1, o["schemas"], schemaOrReferenceV3) })
}

func pathItemV3(m *message, o object) {
	each(o, func(name string, v any) {
		switch name {
		case "get":
			m.object(4, v, operationV3)
		case "put":
			m.object(5, v, operationV3)
		case "post":
			m.object(6, v, operationV3)
		case "delete":
			m.object(7, v, operationV3)
		case "patch":
			m.object(10, v, operationV3)
		case "parameters":
			m.objects(13, v, wrap(1, parameterV3))
		default:
			m.extension("PathItem", 14, name, v)
		}
	})
}

func operationV3(m *message, o object) {
	each(o, func(name string, v any) {
		switch name {
		case "tags":
			m.texts(1, v)
		case "description":
			m.text(3, v)
		case "operationId":
			m.text(5, v)
		case "parameters":
			m.objects(6, v, wrap(1, parameterV3))
		case "requestBody":
			m.object(7, v, wrap(1, requestBodyV3))
		case "responses":
			m.message(8, func(m *message) { m.named(2, v, wrap(1, responseV3)) })
		default:
			m.extension("Operation", 13, name, v)
		}
	})
}

func parameterV3(m *message, o object) {
	each(o, func(name string, v any) {
		switch name {
		case "name":
			m.text(1, v)
		case "in":
			m.text(2, v)
		case "description":
			m.text(3, v)
		case "required":
			m.flag(4, v)
		case "schema":
			m.object(10, v, schemaOrReferenceV3)
		default:
			m.extension("Parameter", 14, name, v)
		}
	})
}

func requestBodyV3(m *message, o object) {
	each(o, func(name string, v any) {
		switch name {
		case "content":
			m.object(2, v, mediaTypesV3)
		case "required":
			m.flag(3, v)
		default:
			m.extension("RequestBody", 4, name, v)
		}
	})
}

func responseV3(m *message, o object) {
	m.text(1, o["description"])
	m.object(3, o["content"], mediaTypesV3)
}

func mediaTypesV3(m *message, o object) {
	m.named(1, o, func(m *message, o object) { m.object(1, o["schema"], schemaOrReferenceV3) })
}

func schemaOrReferenceV3(m *message, o object) { either(1, schemaV3, 2)(m, o) }

func schemaV3(m *message, o object) {
	each(o, func(name string, v any) {
		switch name {
		case "uniqueItems":
			m.flag(20, v)
		case "required":
			m.texts(23, v)
		case "enum":
			for _, value := range v.([]string) {
				m.any(24, value)
			}
		case "type":
			m.text(25, v)
		case "allOf":
			m.objects(26, v, schemaOrReferenceV3)
		case "items":
			m.object(30, v, wrap(1, schemaOrReferenceV3))
		case "properties":
			m.message(31, func(m *message) { m.named(1, v, schemaOrReferenceV3) })
		case "additionalProperties":
			m.object(32, v, wrap(1, schemaOrReferenceV3))
		case "default":
			m.message(33, func(m *message) { m.defaultV3(v) })
		case "description":
			m.text(34, v)
		case "format":
			m.text(35, v)
		default:
			m.extension("Schema", 36, name, v)
		}
	})
}

// defaultV3 appends a DefaultType, which has no form of {}: gnostic writes
// none either.
func (m *message) defaultV3(v any) {
	switch v := v.(type) {
	case int:
		m.double(1, v)
	case bool:
		m.flag(2, v)
	case string:
		m.text(3, v)
	}
}
