package cluster

import (
	"bytes"
	"net/http"
)

// conversions plays conversions by a webhook that does what it must not. Objects are stored as v1 and read as v1beta1.
func conversions(p *play) {
	const one, beta = "/apis/cluster.example.com/v1/namespaces/NAMESPACE/odditiesRUNID", "/apis/cluster.example.com/v1beta1/namespaces/NAMESPACE/odditiesRUNID"
	const definition = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/odditiesRUNID.cluster.example.com"
	version := func(name, member string, storage string) string {
		return "{name: " + name + ", served: true, storage: " + storage + ", schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, properties: {" + member + ": {type: integer}}}}}}}"
	}
	p.must(http.MethodPost, "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", `{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: odditiesRUNID.cluster.example.com}, spec: {
 group: cluster.example.com, scope: Namespaced, names: {plural: odditiesRUNID, singular: oddityRUNID, kind: OddityRUNID},
 conversion: {strategy: Webhook, webhook: {conversionReviewVersions: [v1], clientConfig: {url: "WEBHOOKS/convert", caBundle: CABUNDLE}}},
 versions: [`+version("v1", "size", "true")+`, `+version("v1beta1", "length", "false")+`]}}`)
	p.cleanup = append(p.cleanup, definition)
	for _, path := range []string{one, beta} {
		p.until("resource", http.MethodGet, path, "", func(code int, _ []byte) bool { return code == http.StatusOK })
	}
	oddity := func(version, name, spec string) string {
		return "{apiVersion: cluster.example.com/" + version + ", kind: OddityRUNID, metadata: {name: " + name + ", labels: {x: red}}, spec: {" + spec + "}}"
	}
	p.do("create a", http.MethodPost, one, oddity("v1", "a", "size: 1"))
	p.do("create b", http.MethodPost, one, oddity("v1", "b", "size: 2"))
	p.do("list", http.MethodGet, beta, "")
	read := func(step string) {
		p.do("get: "+step, http.MethodGet, beta+"/a", "")
		p.do("create: "+step, http.MethodPost, beta, oddity("v1beta1", "c", "length: 3"))
	}
	try := func(step string) {
		read(step)
		p.do("list: "+step, http.MethodGet, beta, "")
		p.do("get from the cache: "+step, http.MethodGet, beta+"/a?resourceVersion=0", "")
		p.do("get metadata: "+step, http.MethodGet, beta+"/a", "", "Accept: application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io")
		p.do("get as stored: "+step, http.MethodGet, one+"/a", "")
		p.do("update: "+step, http.MethodPut, beta+"/a", oddity("v1beta1", "a", "length: 3"))
		p.patch("patch: "+step, beta+"/a", merge, `{"spec":{"length":4}}`)
		p.patch("apply: "+step, beta+"/a?fieldManager=m&force=true", apply, oddity("v1beta1", "a", "length: 5"))
		p.do("delete: "+step, http.MethodDelete, beta+"/a?dryRun=All", "")
		p.do("delete all: "+step, http.MethodDelete, beta+"?dryRun=All", "")
	}
	review := func(response string) answer {
		return answer{status: 200, body: `{"apiVersion":"apiextensions.k8s.io/v1","kind":"ConversionReview","response":` + response + `}`}
	}
	converted := func(object string) answer {
		return review(`{"uid":"UID","result":{"status":"Success"},"convertedObjects":[` + object + `]}`)
	}
	for _, b := range []struct {
		step   string
		answer answer
	}{
		{"no JSON", answer{status: 200, body: `rubbish`}},
		{"empty", answer{status: 200, body: ``}},
		{"a list", answer{status: 200, body: `[]`}},
		{"another kind", answer{status: 200, body: `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"x"}}`}},
		{"another version", answer{status: 200, body: `{"apiVersion":"apiextensions.k8s.io/v1beta1","kind":"ConversionReview","response":{"uid":"UID","result":{"status":"Success"}}}`}},
		{"no response", answer{status: 200, body: `{"apiVersion":"apiextensions.k8s.io/v1","kind":"ConversionReview"}`}},
		{"another uid", review(`{"uid":"x","result":{"status":"Success"},"convertedObjects":[]}`)},
		{"wrong types", review(`{"uid":"UID","result":"Success"}`)},
		{"failure", review(`{"uid":"UID","result":{"status":"Failure"}}`)},
		{"failure with a message", review(`{"uid":"UID","result":{"status":"Failure","message":"it is broken","reason":"Conflict","code":409}}`)},
		{"no status", review(`{"uid":"UID","result":{}}`)},
		{"no objects", review(`{"uid":"UID","result":{"status":"Success"},"convertedObjects":[]}`)},
		{"too many objects", converted(`{},{},{}`)},
		{"no object", converted(`"text"`)},
		{"null", converted(`null`)},
		{"no kind", converted(`{"apiVersion":"cluster.example.com/v1beta1"}`)},
		{"status 500", answer{status: 500, body: `it is broken`}},
		{"status 404", answer{status: 404, body: `{"kind":"Status","apiVersion":"v1","status":"Failure","message":"not here","reason":"NotFound","code":404}`}},
		{"status 201", review(`{"uid":"UID","result":{"status":"Failure","message":"created"}}`)},
		{"redirected", answer{status: 302, location: "/convert-elsewhere"}},
	} {
		p.raw("/convert", b.answer)
		read(b.step)
	}
	try("a redirect")
	metadata := func(o map[string]any) map[string]any { m, _ := o["metadata"].(map[string]any); return m }
	for _, b := range []struct {
		step   string
		change func(o map[string]any)
	}{
		{"the apiVersion is kept", func(o map[string]any) { o["apiVersion"] = "cluster.example.com/v2" }},
		{"another kind of object", func(o map[string]any) { o["kind"] = "Other" }},
		{"another name", func(o map[string]any) { metadata(o)["name"] = "other" }},
		{"another namespace", func(o map[string]any) { metadata(o)["namespace"] = "other" }},
		{"another uid of the object", func(o map[string]any) { metadata(o)["uid"] = "other" }},
		{"no metadata", func(o map[string]any) { delete(o, "metadata") }},
		{"metadata is text", func(o map[string]any) { o["metadata"] = "text" }},
		{"labels are text", func(o map[string]any) { metadata(o)["labels"] = "text" }},
		{"a label is a number", func(o map[string]any) { metadata(o)["labels"] = map[string]any{"a": 1} }},
		{"a label is not valid", func(o map[string]any) { metadata(o)["labels"] = map[string]any{"a": "b c"} }},
		{"an annotation is not valid", func(o map[string]any) { metadata(o)["annotations"] = map[string]any{"a b": "c"} }},
	} {
		p.raw("/convert", answer{convert: b.change})
		read(b.step)
	}
	p.raw("/convert", answer{convert: func(o map[string]any) {
		m := metadata(o)
		m["labels"], m["annotations"] = map[string]any{"new": "label"}, map[string]any{"new": "annotation"}
		m["generation"], m["resourceVersion"], m["finalizers"], m["creationTimestamp"] = 77, "5", []any{"example.com/f"}, nil
	}})
	p.do("get: changed metadata", http.MethodGet, beta+"/b", "")
	p.do("create: changed metadata", http.MethodPost, beta, oddity("v1beta1", "d", "length: 3"))
	p.do("get what was created with changed metadata", http.MethodGet, one+"/d", "")
	p.raw("/convert", answer{convert: func(o map[string]any) {
		spec, _ := o["spec"].(map[string]any)
		spec["unknown"], spec["length"], spec["size"], o["status"], o["more"] = 1, "text", "text", "text", "text"
	}})
	p.do("get: members that the schema does not have", http.MethodGet, beta+"/b", "")
	p.do("create: members that the schema does not have", http.MethodPost, beta+"?dryRun=All", oddity("v1beta1", "e", "length: 3"))
	p.raw("/convert", answer{back: one + "/b"})
	p.do("get: a call of the API", http.MethodGet, beta+"/b", "")
	p.do("create: a call of the API", http.MethodPost, beta, oddity("v1beta1", "f", "length: 3"))
	p.raw("/convert", answer{convert: func(map[string]any) {}, pad: 17 << 20})
	p.do("get: 17 MiB", http.MethodGet, beta+"/b", "")
	p.raw("/convert", answer{hang: true})
	p.do("get: hang", http.MethodGet, beta+"/b", "")
	p.do("create: hang", http.MethodPost, beta, oddity("v1beta1", "g", "length: 3"))
	p.raw("/convert", answer{})
	p.do("list in the end", http.MethodGet, one, "")
	client := func(step, config, says string) {
		p.patch("definition: "+step, definition, merge, `{"spec":{"conversion":{"webhook":{"clientConfig":`+config+`}}}}`)
		p.until("its webhook", http.MethodGet, beta+"/b", "", func(_ int, body []byte) bool { return bytes.Contains(body, []byte(says)) })
		try(step)
	}
	client("certificate", `{"caBundle":"OTHERCA"}`, "x509")
	client("no certificate", `{"caBundle":null}`, "x509")
	client("refused", `{"url":"https://127.0.0.1:1/convert","caBundle":"CABUNDLE"}`, "connection refused")
	client("no service", `{"url":null,"service":{"namespace":"NAMESPACE","name":"absent","path":"/convert"}}`, "not found")
}
