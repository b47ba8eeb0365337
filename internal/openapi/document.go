package openapi

import "encoding/json"

// Document is an OpenAPI document.
type Document struct {
	tree object
	form form
}

// JSON returns the JSON form, with sorted members.
func (d Document) JSON() []byte {
	data, err := json.Marshal(d.tree)
	if err != nil {
		panic(err) // trees hold nothing that could fail
	}
	return data
}

// Protobuf returns the form of the same document that gnostic defines.
func (d Document) Protobuf() []byte {
	var m message
	d.form(&m, d.tree)
	return m
}
