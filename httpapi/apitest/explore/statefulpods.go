package explore

import (
	"context"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"maps"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// StatefulPods is a Scenario.World like Workloads that also makes the Pods of StatefulSets, for controllers that list them. It does what kube-controller-manager
// and a kubelet do: it creates Pods in order and their PersistentVolumeClaims, binds the claims, adopts orphans, deletes the Pods beyond the replicas and those
// of an old template from the highest number down, and writes the status. All Pods run on a node of the name "node", which need not exist, and end as soon as they are
// deleted. It does not do spec.ordinals, persistentVolumeClaimRetentionPolicy and ControllerRevisions.
func StatefulPods(ctx context.Context, c Conn) error {
	var parts sync.WaitGroup
	parts.Go(func() { runWorkloads(ctx, c, withoutPods()) })
	changed := make(chan struct{}, 1)
	for _, path := range []string{setsPath, podsPath, claimsPath} {
		parts.Go(func() {
			follow(ctx, c, path, func(string, workload) {
				select {
				case changed <- struct{}{}:
				default: // it is to look anyway
				}
			})
		})
	}
	w := statefulWorld{ctx, c}
	for ctx.Err() == nil {
		select {
		case <-ctx.Done():
		case <-changed:
			for ctx.Err() == nil && w.act() {
			}
		}
	}
	parts.Wait()
	return nil
}

// statefulWorld does the next thing for StatefulSets, Pods and claims. It keeps nothing in memory.
type statefulWorld struct {
	ctx context.Context
	c   Conn
}

// item is an object as JSON.
type item map[string]any

// at returns what is in a member, or nil.
func (o item) at(path ...string) any {
	var v any = map[string]any(o)
	for _, name := range path {
		m, _ := v.(map[string]any)
		v = m[name]
	}
	return v
}

func (o item) text(path ...string) string           { s, _ := o.at(path...).(string); return s }
func (o item) object(path ...string) map[string]any { m, _ := o.at(path...).(map[string]any); return m }
func (o item) list(path ...string) []any            { l, _ := o.at(path...).([]any); return l }

// number returns a number, or what it is without one.
func (o item) number(without int, path ...string) int {
	text, ok := o.at(path...).(json.Number)
	n, err := text.Int64()
	if !ok || err != nil {
		return without
	}
	return int(n)
}

func (o item) name() string      { return o.text("metadata", "name") }
func (o item) namespace() string { return o.text("metadata", "namespace") }
func (o item) leaves() bool      { return o.text("metadata", "deletionTimestamp") != "" }

// list returns the objects of a resource, in the order of their names.
func (w statefulWorld) list(path string) (all []item) {
	got := item(exchange(w.c, http.MethodGet, path, ""))
	for _, o := range got.list("items") {
		if m, ok := o.(map[string]any); ok {
			all = append(all, m)
		}
	}
	return all
}

// write sends a request for an object, and reports whether it was carried out.
func (w statefulWorld) write(method, path, namespace, name string, body any) bool {
	data, err := json.Marshal(body)
	if err != nil {
		return false
	}
	i := strings.LastIndexByte(path, '/')
	at := fmt.Sprintf("%s/namespaces/%s%s", path[:i], url.PathEscape(namespace), path[i:])
	if name != "" {
		at += "/" + name
	}
	resp, err := send(w.ctx, w.c, method, at, string(data))
	return answerOf(resp, err) == nil
}

// patchStatus writes members of a status, and reports whether it has changed something.
func (w statefulWorld) patchStatus(path string, o item, status map[string]any) bool {
	same := true
	for name, v := range parseValue(status) {
		have := o.at("status", name)
		same = same && (reflect.DeepEqual(have, v) || have == nil && v == json.Number("0"))
	}
	return !same && w.write(http.MethodPatch, path, o.namespace(), o.name()+"/status", map[string]any{"status": status})
}

// parseValue returns an object with the types that JSON has.
func parseValue(o map[string]any) map[string]any {
	data, err := json.Marshal(o)
	if err != nil {
		return nil
	}
	return parse(data)
}

// act does one thing, and reports whether there may be another one.
func (w statefulWorld) act() bool {
	sets, pods, claims := w.list(setsPath), w.list(podsPath), w.list(claimsPath)
	for _, p := range pods {
		if w.runs(p) {
			return true
		}
	}
	for _, claim := range claims {
		if !claim.leaves() && w.patchStatus(claimsPath, claim, map[string]any{
			"phase": "Bound", "accessModes": claim.at("spec", "accessModes"), "capacity": claim.at("spec", "resources", "requests"),
		}) {
			return true
		}
	}
	for _, set := range sets {
		if w.keep(set, pods, claims) {
			return true
		}
	}
	return false
}

// nodeName is where all Pods of StatefulSets run. A Pod without a node has no time to end.
const nodeName = "node"

// runs is the kubelet.
func (w statefulWorld) runs(p item) bool {
	phase := p.text("status", "phase")
	switch {
	case p.leaves():
		return p.text("spec", "nodeName") == nodeName && len(p.list("metadata", "finalizers")) == 0 &&
			w.write(http.MethodDelete, podsPath, p.namespace(), p.name(), map[string]any{"gracePeriodSeconds": 0, "preconditions": map[string]any{"uid": p.text("metadata", "uid")}})
	case phase != "" && phase != "Pending":
		return false
	}
	now := time.Now().UTC().Format(time.RFC3339)
	var containers []any
	for _, v := range p.list("spec", "containers") {
		container, _ := v.(map[string]any)
		containers = append(containers, map[string]any{
			"name": container["name"], "image": container["image"], "imageID": container["image"], "ready": true, "started": true, "restartCount": 0,
			"state": map[string]any{"running": map[string]any{"startedAt": now}},
		})
	}
	var conditions []any
	for _, name := range []string{"PodScheduled", "Initialized", "ContainersReady", "Ready"} {
		conditions = append(conditions, map[string]any{"type": name, "status": "True", "lastTransitionTime": now})
	}
	return w.write(http.MethodPatch, podsPath, p.namespace(), p.name()+"/status",
		map[string]any{"status": map[string]any{"phase": "Running", "startTime": now, "conditions": conditions, "containerStatuses": containers}})
}

func isReady(p item) bool { return p.text("status", "phase") == "Running" && !p.leaves() }

const revisionLabel = "controller-revision-hash"

// keep does the next thing for a StatefulSet.
func (w statefulWorld) keep(set item, pods, claims []item) bool {
	if set.leaves() {
		return false
	}
	replicas := set.number(1, "spec", "replicas")
	revision := set.revision()
	mine, missing := map[int]item{}, replicas
	for _, p := range pods {
		if n, ok := set.numberOf(p); ok {
			mine[n] = p
		}
	}
	ready, updated := 0, 0
	for _, n := range slices.Sorted(maps.Keys(mine)) {
		p := mine[n]
		switch owner := controllerOf(p); {
		case owner == "" && !p.leaves():
			return w.adopt(set, p)
		case owner != set.text("metadata", "uid"):
			delete(mine, n) // it ends soon
			continue
		}
		if isReady(p) {
			ready++
		}
		if p.text("metadata", "labels", revisionLabel) == revision {
			updated++
		}
	}
	if w.patchStatus(setsPath, set, map[string]any{
		"observedGeneration": set.at("metadata", "generation"), "replicas": len(mine), "readyReplicas": ready, "availableReplicas": ready,
		"currentReplicas": updated, "updatedReplicas": updated, "currentRevision": revision, "updateRevision": revision,
	}) {
		return true
	}
	for n := range replicas {
		if p, ok := mine[n]; !ok {
			missing = n
			break
		} else if !isReady(p) {
			return false
		}
	}
	if missing < replicas {
		return w.create(set, missing, revision, claims)
	}
	partition := set.number(0, "spec", "updateStrategy", "rollingUpdate", "partition")
	for _, n := range slices.Backward(slices.Sorted(maps.Keys(mine))) {
		p := mine[n]
		old := p.text("metadata", "labels", revisionLabel) != revision && n >= partition && set.text("spec", "updateStrategy", "type") != "OnDelete"
		if n >= replicas || old {
			return !p.leaves() && w.write(http.MethodDelete, podsPath, p.namespace(), p.name(), map[string]any{})
		}
	}
	return false
}

// revision names the template of a StatefulSet.
func (o item) revision() string {
	data, err := json.Marshal(o.at("spec", "template"))
	if err != nil {
		return o.name()
	}
	sum := fnv.New32a()
	_, _ = sum.Write(data)
	return fmt.Sprintf("%s-%x", o.name(), sum.Sum32())
}

// numberOf returns the number of a Pod, if it has the name and the labels of a Pod of the StatefulSet.
func (o item) numberOf(p item) (int, bool) {
	text, ok := strings.CutPrefix(p.name(), o.name()+"-")
	n, err := strconv.Atoi(text)
	if !ok || err != nil || p.namespace() != o.namespace() {
		return 0, false
	}
	for name, v := range o.object("spec", "selector", "matchLabels") {
		if p.at("metadata", "labels", name) != v {
			return 0, false
		}
	}
	return n, true
}

// controllerOf returns the uid of what controls an object, or "".
func controllerOf(o item) string {
	for _, v := range o.list("metadata", "ownerReferences") {
		if ref, _ := v.(map[string]any); ref["controller"] == true {
			return item(ref).text("uid")
		}
	}
	return ""
}

// ownedBy returns the reference that the Pods of a StatefulSet have.
func (o item) ownedBy() map[string]any {
	return map[string]any{
		"apiVersion": "apps/v1", "kind": "StatefulSet", "name": o.name(), "uid": o.text("metadata", "uid"), "controller": true, "blockOwnerDeletion": true,
	}
}

func (w statefulWorld) adopt(set, p item) bool {
	owners := append(slices.Clone(p.list("metadata", "ownerReferences")), set.ownedBy())
	return w.write(http.MethodPatch, podsPath, p.namespace(), p.name(), map[string]any{"metadata": map[string]any{"uid": p.text("metadata", "uid"), "ownerReferences": owners}})
}

// create makes a Pod, or first a claim of it that is missing.
func (w statefulWorld) create(set item, n int, revision string, claims []item) bool {
	name := fmt.Sprint(set.name(), "-", n)
	template := item(parseValue(set.object("spec", "template")))
	spec := template.object("spec")
	volumes := template.list("spec", "volumes")
	for _, v := range set.list("spec", "volumeClaimTemplates") {
		claim := item(parseValue(v.(map[string]any)))
		made := claim.name() + "-" + name
		volumes = slices.DeleteFunc(volumes, func(v any) bool { m, _ := v.(map[string]any); return m["name"] == claim.name() })
		volumes = append(volumes, map[string]any{"name": claim.name(), "persistentVolumeClaim": map[string]any{"claimName": made}})
		i := slices.IndexFunc(claims, func(o item) bool { return o.namespace() == set.namespace() && o.name() == made })
		switch {
		case i >= 0 && claims[i].leaves():
			return false
		case i < 0:
			return w.write(http.MethodPost, claimsPath, set.namespace(), "", map[string]any{
				"apiVersion": "v1", "kind": "PersistentVolumeClaim", "spec": claim.at("spec"),
				"metadata": map[string]any{"name": made, "annotations": claim.at("metadata", "annotations"), "labels": merged(claim.object("metadata", "labels"), set.object("spec", "selector", "matchLabels"))},
			})
		}
	}
	spec["hostname"], spec["nodeName"] = name, nodeName
	if service := set.text("spec", "serviceName"); service != "" {
		spec["subdomain"] = service
	}
	if len(volumes) > 0 {
		spec["volumes"] = volumes
	}
	return w.write(http.MethodPost, podsPath, set.namespace(), "", map[string]any{
		"apiVersion": "v1", "kind": "Pod", "spec": spec, "metadata": map[string]any{
			"name": name, "annotations": template.at("metadata", "annotations"), "ownerReferences": []any{set.ownedBy()},
			"labels": merged(template.object("metadata", "labels"), map[string]any{
				revisionLabel: revision, "statefulset.kubernetes.io/pod-name": name, "apps.kubernetes.io/pod-index": strconv.Itoa(n),
			}),
		},
	})
}

// merged returns the members of both, those of b first.
func merged(a, b map[string]any) map[string]any {
	all := maps.Clone(a)
	if all == nil {
		all = map[string]any{}
	}
	maps.Copy(all, b)
	return all
}
