package scheme

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/kubecoord/kubecoord/internal/kinds"
)

// text returns the value of a member that is a string, "" if it is not set.
func text(path ...string) func(kinds.Object) string {
	return func(o kinds.Object) string {
		s, _ := at(o, path...).(string)
		return s
	}
}

// number returns the value of a member that is a number, "0" if it is not set.
func number(path ...string) func(kinds.Object) string {
	return func(o kinds.Object) string {
		n, _ := at(o, path...).(int64)
		return fmt.Sprint(n)
	}
}

// truth returns the value of a member that is a boolean, "false" if it is not set.
func truth(path ...string) func(kinds.Object) string {
	return func(o kinds.Object) string {
		b, _ := at(o, path...).(bool)
		return fmt.Sprint(b)
	}
}

// fields returns the selectable fields that are strings.
func fields(paths ...string) (out []kinds.SelectableField) {
	for _, path := range paths {
		out = append(out, kinds.SelectableField{Path: path, Value: text(strings.Split(path, ".")...)})
	}
	return out
}

func boolField(path string) kinds.SelectableField {
	return kinds.SelectableField{Path: path, Value: truth(strings.Split(path, ".")...)}
}

func intField(path string) kinds.SelectableField {
	return kinds.SelectableField{Path: path, Value: number(strings.Split(path, ".")...)}
}

// podFields are the fields of pods. status.podIPs is accepted, but no pod has a value of it; status.podIP is the first of
// podIPs (upstream: registry/core/pod, ToSelectableFields).
func podFields() []kinds.SelectableField {
	firstIP := func(o kinds.Object) string {
		if ips := value[corev1.Pod](o).Status.PodIPs; len(ips) > 0 {
			return ips[0].IP
		}
		return ""
	}
	return append(fields("spec.nodeName", "spec.restartPolicy", "spec.schedulerName", "spec.serviceAccountName", "status.phase", "status.nominatedNodeName"),
		boolField("spec.hostNetwork"),
		kinds.SelectableField{Path: "spec.host", Value: text("spec", "nodeName")},
		kinds.SelectableField{Path: "status.podIP", Value: firstIP},
		kinds.SelectableField{Path: "status.podIPs", Value: func(kinds.Object) string { return "" }})
}

// eventFields are the fields of events of the core group. The source of an event without one is its reportingComponent.
func eventFields() []kinds.SelectableField {
	return append(fields("involvedObject.kind", "involvedObject.namespace", "involvedObject.name", "involvedObject.uid", "involvedObject.apiVersion",
		"involvedObject.resourceVersion", "involvedObject.fieldPath", "reason", "reportingComponent", "type"),
		kinds.SelectableField{Path: "source", Value: func(o kinds.Object) string {
			if component := text("source", "component")(o); component != "" {
				return component
			}
			return text("reportingComponent")(o)
		}})
}

// groupEventFields are the fields of events of the group events.k8s.io. Stored events have the names of the core group.
func groupEventFields() (all []kinds.SelectableField) {
	all = []kinds.SelectableField{{Path: "reportingController", Value: text("reportingComponent")}}
	for _, f := range fields("reason", "type", "involvedObject.kind", "involvedObject.namespace", "involvedObject.name", "involvedObject.uid",
		"involvedObject.apiVersion", "involvedObject.resourceVersion", "involvedObject.fieldPath") {
		f.Path = strings.Replace(f.Path, "involvedObject.", "regarding.", 1)
		all = append(all, f)
	}
	return all
}

// Parts of the metadata that count a generation.
const (
	labels      = "metadata.labels"
	annotations = "metadata.annotations"
)

// counter returns the function that reports whether one of the members differs.
func (t *objectType) counter(members []string) func(o, old kinds.Object) bool {
	return func(o, old kinds.Object) bool {
		m, before := o.GetObjectMeta(), old.GetObjectMeta()
		return slices.ContainsFunc(members, func(name string) bool {
			switch name {
			case labels:
				return !maps.Equal(m.Labels, before.Labels)
			case annotations:
				return !maps.Equal(m.Annotations, before.Annotations)
			}
			return !t.typ.EqualMember(o, old, name)
		})
	}
}

// anyName is the name rule of a kind whose names need only be path segments, which all names must be.
func anyName(string, bool) []string { return nil }

// nameIsIP is the name rule of IPAddress.
func nameIsIP(name string, _ bool) (problems []string) {
	for _, err := range validation.IsValidIP(&field.Path{}, name) {
		problems = append(problems, err.Detail)
	}
	return problems
}
