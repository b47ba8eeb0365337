package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
)

// selectors says which fields a fieldSelector may name.
type selectors struct {
	// Asked are the fields that were tried with each resource.
	Asked []string `json:"asked"`
	// Resources are by the path of their list.
	Resources map[string]selectable `json:"resources"`
}

type selectable struct {
	Accepted []string `json:"accepted"`
	// Refusal is the message for the field "no.such".
	Refusal string `json:"refusal"`
}

// selectors asks each resource that can be listed for objects by the fields that any built-in kind can be selected by.
func (r recorder) selectors(legacy map[string]json.RawMessage) (*selectors, error) {
	s := &selectors{
		Asked: []string{
			"metadata.name", "metadata.namespace", "name", "type", "reason", "source", "reportingComponent", "reportingController",
			"involvedObject.kind", "involvedObject.namespace", "involvedObject.name", "involvedObject.uid",
			"involvedObject.apiVersion", "involvedObject.resourceVersion", "involvedObject.fieldPath",
			"regarding.kind", "regarding.namespace", "regarding.name", "regarding.uid", "regarding.apiVersion",
			"regarding.resourceVersion", "regarding.fieldPath",
			"spec.nodeName", "spec.host", "spec.restartPolicy", "spec.schedulerName", "spec.serviceAccountName", "spec.hostNetwork",
			"spec.unschedulable", "spec.clusterIP", "spec.type", "spec.signerName", "spec.driver", "spec.podName", "spec.leaseName",
			"status.phase", "status.podIP", "status.podIPs", "status.nominatedNodeName", "status.replicas", "status.successful",
			"no.such",
		},
		Resources: map[string]selectable{},
	}
	paths, err := listable(legacy)
	if err != nil {
		return nil, err
	}
	for _, path := range paths {
		var one selectable
		for _, field := range s.Asked {
			refusal, err := r.refusal(path + "?limit=1&fieldSelector=" + field + "%3Dx")
			switch {
			case err != nil:
				return nil, err
			case refusal == "":
				one.Accepted = append(one.Accepted, field)
			case field == "no.such":
				one.Refusal = refusal
			}
		}
		s.Resources[path] = one
	}
	return s, nil
}

// refusal returns the message of the Status that refuses a request, or "" if it is answered.
func (r recorder) refusal(path string) (string, error) {
	resp, err := http.Get(r.server + path)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode == http.StatusOK {
		return "", err
	}
	var status struct{ Message string }
	if err := json.Unmarshal(body, &status); err != nil || status.Message == "" {
		return "", fmt.Errorf("GET %s: %s: %s", path, resp.Status, body)
	}
	return status.Message, nil
}
