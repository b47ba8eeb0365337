package cluster

import (
	"bytes"
	"net/http"
)

// unreachable plays the writes of objects whose conversion webhook cannot be reached: some have owners in both versions, and some are
// not valid, which a kube-apiserver finds before it converts them.
func unreachable(p *play) {
	const one, beta = "/apis/cluster.example.com/v1/namespaces/NAMESPACE/remotesRUNID", "/apis/cluster.example.com/v1beta1/namespaces/NAMESPACE/remotesRUNID"
	const definition = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/remotesRUNID.cluster.example.com"
	version := func(name, member, storage string) string {
		return "{name: " + name + ", served: true, storage: " + storage + ", subresources: {status: {}}, schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, properties: {" +
			member + ": {type: integer, maximum: 9}, note: {type: string}}}, status: {type: object, properties: {ready: {type: integer, maximum: 9}}}}}}}"
	}
	p.must(http.MethodPost, "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", `{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: remotesRUNID.cluster.example.com}, spec: {
 group: cluster.example.com, scope: Namespaced, names: {plural: remotesRUNID, singular: remoteRUNID, kind: RemoteRUNID},
 conversion: {strategy: Webhook, webhook: {conversionReviewVersions: [v1], clientConfig: {url: "WEBHOOKS/convert", caBundle: CABUNDLE}}},
 versions: [`+version("v1", "size", "true")+`, `+version("v1beta1", "length", "false")+`]}}`)
	p.cleanup = append(p.cleanup, definition)
	for _, path := range []string{one, beta} {
		p.until("resource", http.MethodGet, path, "", func(code int, _ []byte) bool { return code == http.StatusOK })
	}
	remote := func(version, name, rest string) string {
		return "{apiVersion: cluster.example.com/" + version + ", kind: RemoteRUNID, metadata: {name: " + name + "}, " + rest + "}"
	}
	p.do("create a", http.MethodPost, one+"?fieldManager=one", remote("v1", "a", "spec: {size: 1, note: first}"))
	p.do("create b", http.MethodPost, one+"?fieldManager=one", remote("v1", "b", "spec: {size: 1, note: first}"))
	p.patch("apply a in the other version", beta+"/a?fieldManager=other", apply, remote("v1beta1", "a", "spec: {length: 1}"))
	invalid := func(step string) {
		p.do(step+": create with a spec that is not valid", http.MethodPost, beta, remote("v1beta1", "c", "spec: {length: 10}"))
		p.do(step+": dry run with a spec that is not valid", http.MethodPost, beta+"?dryRun=All", remote("v1beta1", "c", "spec: {length: 10}"))
		p.do(step+": create with a name that is not valid", http.MethodPost, beta, remote("v1beta1", "a_b", "spec: {length: 1}"))
		p.do(step+": create with an unknown member", http.MethodPost, beta+"?fieldValidation=Strict", remote("v1beta1", "c", "spec: {size: 1}"))
		p.patch(step+": apply of a new object that is not valid", beta+"/c?fieldManager=m", apply, remote("v1beta1", "c", "spec: {length: 10}"))
		p.do(step+": update that is not valid", http.MethodPut, beta+"/a", remote("v1beta1", "a", "spec: {length: 10}"))
		p.patch(step+": patch that is not valid", beta+"/a", merge, `{"spec":{"length":10}}`)
		p.patch(step+": dry run of a patch that is not valid", beta+"/a?dryRun=All", merge, `{"spec":{"length":10}}`)
		p.patch(step+": apply that is not valid", beta+"/a?fieldManager=m&force=true", apply, remote("v1beta1", "a", "spec: {length: 10}"))
		p.patch(step+": patch of the status that is not valid", beta+"/a/status", merge, `{"status":{"ready":10}}`)
	}
	invalid("reached")
	change := func(url string) {
		p.must(http.MethodPatch, definition, `{"spec":{"conversion":{"webhook":{"clientConfig":{"url":"`+url+`"}}}}}`, "Content-Type: "+merge)
	}
	change("https://127.0.0.1:1/convert")
	p.until("the webhook is away", http.MethodGet, beta+"/b", "", func(_ int, body []byte) bool { return bytes.Contains(body, []byte("connection refused")) })
	invalid("away")
	p.do("away: create", http.MethodPost, beta, remote("v1beta1", "c", "spec: {length: 1}"))
	p.do("away: list", http.MethodGet, beta, "")
	p.do("away: list everywhere", http.MethodGet, "/apis/cluster.example.com/v1beta1/remotesRUNID?limit=1", "")
	p.do("away: list from the cache", http.MethodGet, beta+"?resourceVersion=0", "")
	p.do("away: list as a table", http.MethodGet, beta, "", "Accept: application/json;as=Table;v=v1;g=meta.k8s.io")
	p.do("away: list the metadata", http.MethodGet, beta, "", "Accept: application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io")
	p.do("away: list as stored", http.MethodGet, one, "")
	for _, name := range []string{"b", "a"} {
		step := "away, " + name + ": "
		p.patch(step+"patch as stored, dry run", one+"/"+name+"?fieldManager=two&dryRun=All", merge, `{"spec":{"size":2}}`)
		p.patch(step+"apply as stored, dry run", one+"/"+name+"?fieldManager=three&dryRun=All&force=true", apply, remote("v1", name, "spec: {size: 3}"))
		p.patch(step+"apply as stored without a change", one+"/"+name+"?fieldManager=three", apply, remote("v1", name, "spec: {size: 1}"))
		p.patch(step+"apply as stored with a conflict", one+"/"+name+"?fieldManager=three", apply, remote("v1", name, "spec: {size: 3}"))
		p.patch(step+"apply as stored", one+"/"+name+"?fieldManager=three&force=true", apply, remote("v1", name, "spec: {size: 3}"))
		p.patch(step+"patch that changes nothing", one+"/"+name+"?fieldManager=four", merge, `{}`)
		p.patch(step+"patch as stored", one+"/"+name+"?fieldManager=two", merge, `{"spec":{"size":4}}`)
		p.patch(step+"JSON patch as stored", one+"/"+name+"?fieldManager=five", jsonPatch, `[{"op":"add","path":"/spec/note","value":"m"}]`)
		p.patch(step+"patch of the status as stored", one+"/"+name+"/status?fieldManager=six", merge, `{"status":{"ready":1}}`)
		p.do(step+"get as stored", http.MethodGet, one+"/"+name, "")
		p.patch(step+"patch in the other version", beta+"/"+name, merge, `{"spec":{"length":5}}`)
	}
	p.do("away: delete as stored", http.MethodDelete, one+"/b", "")
	change("WEBHOOKS/convert")
	p.until("the webhook is back", http.MethodGet, beta+"/a", "", func(code int, _ []byte) bool { return code == http.StatusOK })
	p.do("back: list", http.MethodGet, beta, "")
	p.patch("back: patch in the other version", beta+"/a?fieldManager=seven", merge, `{"spec":{"length":6}}`)
	p.patch("back: apply as stored", one+"/a?fieldManager=three", apply, remote("v1", "a", "spec: {note: third}"))
}
