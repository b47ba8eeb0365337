package explore

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"
)

// Workloads is a Scenario.World in which the Pods of each Deployment, StatefulSet and Job run: it writes their status, and the status of
// Pods that others create, as the controllers and the kubelet of a healthy cluster do at last. It creates no Pods. It lets go
// PersistentVolumeClaims that are deleted and that no Pod uses. A server without these kinds is left alone.
func Workloads(ctx context.Context, c Conn) error {
	runWorkloads(ctx, c, append(withoutPods(), workloadKind{setsPath, statefulSetStatus}, workloadKind{podsPath, podStatus}))
	return nil
}

// workloadKind is a resource, and the status of an object whose Pods run.
type workloadKind struct {
	path   string
	status func(o workload) map[string]any
}

const (
	setsPath   = "/apis/apps/v1/statefulsets"
	podsPath   = "/api/v1/pods"
	claimsPath = "/api/v1/persistentvolumeclaims"
)

// withoutPods are the resources whose Pods no World makes.
func withoutPods() []workloadKind {
	return []workloadKind{{"/apis/apps/v1/deployments", deploymentStatus}, {"/apis/batch/v1/jobs", jobStatus}}
}

// runWorkloads writes the status of objects, and lets go claims, until ctx ends.
func runWorkloads(ctx context.Context, c Conn, kinds []workloadKind) {
	var followers sync.WaitGroup
	v := &claims{c: c, leaving: map[string]bool{}}
	followers.Go(func() { follow(ctx, c, claimsPath, v.see) })
	followers.Go(func() { follow(ctx, c, podsPath, v.seePod) })
	for _, w := range kinds {
		followers.Go(func() {
			follow(ctx, c, w.path, func(event string, o workload) {
				if event != "DELETED" {
					writeStatus(ctx, c, w.path, o, w.status(o))
				}
			})
		})
	}
	followers.Wait()
}

// workload is the part of an object that its status is computed from.
type workload struct {
	Metadata struct {
		Name, Namespace   string
		Generation        int64
		DeletionTimestamp string
		Finalizers        []string
	}
	Spec struct {
		Replicas, Completions, Parallelism *int32
		Suspend                            bool
		Volumes                            []struct {
			Name                  string
			Ephemeral             *struct{}
			PersistentVolumeClaim struct{ ClaimName string }
		}
	}
	Status map[string]any
}

func replicasOf(o workload) (n int32) {
	n = 1
	if o.Spec.Replicas != nil {
		n = *o.Spec.Replicas
	}
	return n
}

func deploymentStatus(o workload) map[string]any {
	n := replicasOf(o)
	return map[string]any{
		"observedGeneration": o.Metadata.Generation, "replicas": n, "updatedReplicas": n, "readyReplicas": n, "availableReplicas": n,
		"conditions": []any{map[string]any{"type": "Available", "status": "True", "reason": "MinimumReplicasAvailable"}},
	}
}

func statefulSetStatus(o workload) map[string]any {
	n := replicasOf(o)
	return map[string]any{
		"observedGeneration": o.Metadata.Generation, "replicas": n, "currentReplicas": n, "updatedReplicas": n, "readyReplicas": n, "availableReplicas": n,
		"currentRevision": o.Metadata.Name, "updateRevision": o.Metadata.Name,
	}
}

func jobStatus(o workload) map[string]any {
	if o.Spec.Suspend || o.Status["completionTime"] != nil {
		return nil
	}
	n := int32(1)
	if o.Spec.Completions != nil {
		n = *o.Spec.Completions
	}
	now := time.Now().UTC().Format(time.RFC3339)
	done := func(kind string) any {
		return map[string]any{"type": kind, "status": "True", "reason": "CompletionsReached", "lastTransitionTime": now, "lastProbeTime": now}
	}
	return map[string]any{
		"startTime": now, "completionTime": now, "succeeded": n, "ready": 0, "terminating": 0, "uncountedTerminatedPods": map[string]any{},
		"conditions": []any{done("SuccessCriteriaMet"), done("Complete")},
	}
}

func podStatus(o workload) map[string]any {
	if o.Metadata.DeletionTimestamp != "" || o.Status["phase"] != nil && o.Status["phase"] != "Pending" {
		return nil
	}
	return map[string]any{"phase": "Running", "conditions": []any{map[string]any{"type": "Ready", "status": "True"}}}
}

// follow calls see for each object of a resource, and for each change of it, until ctx ends or there is no such resource.
func follow(ctx context.Context, c Conn, path string, see func(event string, o workload)) {
	for ctx.Err() == nil {
		resp, err := send(ctx, c, http.MethodGet, path+"?watch=true", "")
		if err == nil && resp.StatusCode == http.StatusNotFound {
			resp.Body.Close()
			return
		}
		if err == nil {
			events := json.NewDecoder(resp.Body)
			for {
				var e struct {
					Type   string
					Object workload
				}
				if events.Decode(&e) != nil {
					break
				}
				if e.Type == "ADDED" || e.Type == "MODIFIED" || e.Type == "DELETED" {
					see(e.Type, e.Object)
				}
			}
			resp.Body.Close()
		}
		sleep(ctx, time.Second)
	}
}

// writeStatus patches the status of an object, unless it has it.
func writeStatus(ctx context.Context, c Conn, path string, o workload, status map[string]any) {
	if status == nil || o.has(status) {
		return
	}
	body, err := json.Marshal(map[string]any{"status": status})
	if err != nil {
		return
	}
	i := strings.LastIndexByte(path, '/')
	at := fmt.Sprintf("%s/namespaces/%s%s/%s/status", path[:i], o.Metadata.Namespace, path[i:], o.Metadata.Name)
	if resp, err := send(ctx, c, http.MethodPatch, at, string(body)); err == nil {
		resp.Body.Close()
	}
}

// has reports whether the members of a status have the values that they should, but for conditions that others have added.
func (o workload) has(status map[string]any) bool {
	data, err := json.Marshal(status)
	var want map[string]any
	if err != nil || json.Unmarshal(data, &want) != nil {
		return false
	}
	for name, v := range want {
		if v != 0.0 && name != "conditions" && !reflect.DeepEqual(v, o.Status[name]) {
			return false
		}
	}
	return true
}

// claims are the PersistentVolumeClaims that are deleted, by their paths. As the controller of a cluster, it takes away the finalizer of those that no Pod uses.
type claims struct {
	c       Conn
	mu      sync.Mutex
	leaving map[string]bool
}

const protection = "kubernetes.io/pvc-protection"

func claimPath(namespace, name string) string {
	return "/api/v1/namespaces/" + namespace + "/persistentvolumeclaims/" + name
}

// see looks at a claim.
func (v *claims) see(event string, o workload) {
	at := claimPath(o.Metadata.Namespace, o.Metadata.Name)
	v.mu.Lock()
	defer v.mu.Unlock()
	if event == "DELETED" || o.Metadata.DeletionTimestamp == "" || !slices.Contains(o.Metadata.Finalizers, protection) {
		delete(v.leaving, at)
		return
	}
	v.leaving[at] = true
	v.releaseLocked(at, o.Metadata.Namespace)
}

// seePod looks at the claims again when a Pod has ended.
func (v *claims) seePod(event string, o workload) {
	if event != "DELETED" && !o.hasEnded() {
		return
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	for _, at := range slices.Sorted(maps.Keys(v.leaving)) {
		if strings.HasPrefix(at, claimPath(o.Metadata.Namespace, "")) {
			v.releaseLocked(at, o.Metadata.Namespace)
		}
	}
}

func (o workload) hasEnded() bool {
	return o.Status["phase"] == "Succeeded" || o.Status["phase"] == "Failed"
}

// releaseLocked takes the finalizer away from a claim that no Pod uses.
func (v *claims) releaseLocked(at, namespace string) {
	resp, err := send(context.Background(), v.c, http.MethodGet, "/api/v1/namespaces/"+namespace+"/pods", "")
	if err != nil {
		return
	}
	defer resp.Body.Close()
	var pods struct{ Items []workload }
	if json.NewDecoder(resp.Body).Decode(&pods) != nil {
		return
	}
	for _, p := range pods.Items {
		for _, volume := range p.Spec.Volumes {
			claim := volume.PersistentVolumeClaim.ClaimName
			if volume.Ephemeral != nil {
				claim = p.Metadata.Name + "-" + volume.Name
			}
			if !p.hasEnded() && claim != "" && claimPath(namespace, claim) == at {
				return
			}
		}
	}
	o := exchange(v.c, http.MethodGet, at, "")
	m, _ := o["metadata"].(map[string]any)
	all, _ := m["finalizers"].([]any)
	if m == nil || m["deletionTimestamp"] == nil {
		return
	}
	m["finalizers"] = slices.DeleteFunc(all, func(f any) bool { return f == protection })
	if body, err := json.Marshal(o); err == nil {
		exchange(v.c, http.MethodPut, at, string(body)) // a conflict is an event, after which it is tried again
	}
}

func send(ctx context.Context, c Conn, method, path, body string) (*http.Response, error) {
	form := "application/json"
	if method == http.MethodPatch {
		form = "application/merge-patch+json"
	}
	return sendAs(ctx, c, method, path, form, body)
}

// sendAs sends a request with a body of a media type.
func sendAs(ctx context.Context, c Conn, method, path, form, body string) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, method, c.Host+path, strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", form)
	return c.Transport.RoundTrip(req)
}
