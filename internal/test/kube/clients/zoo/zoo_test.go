package zoo

import (
	"context"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubecoord/kubecoord/httpapi"
	"github.com/kubecoord/kubecoord/httpapi/apitest"
	"github.com/kubecoord/kubecoord/httpapi/apitest/explore"
	"github.com/kubecoord/kubecoord/httpapi/kube/cluster"
	"github.com/kubecoord/kubecoord/httpapi/kube/crd"
	"github.com/kubecoord/kubecoord/store"
)

// animal is a controller of the zoo, and what a user does.
type animal struct {
	name     string
	make     func(wrong bool) run
	replicas int
	steps    []explore.Step
	// plan is how the plan begins that must lead to the mistake, and finding is a part of what the finding says, first or in its details.
	plan, finding string
	masked        []string // members that differ from run to run
	often         bool     // the mistake shows itself now and then only
	world         func(ctx context.Context, c explore.Conn) error
}

// animals returns the zoo.
func animals() []animal {
	a := configMap(namespace, "a", nil)
	b := configMap(namespace, "b", nil)
	return []animal{
		{
			name: "leak", make: leak, steps: []explore.Step{create(aWidget("a", "x")), remove(aWidget("a", ""))},
			plan: "crash-after create configmaps", finding: "there are 2 configmaps",
		}, {
			name: "incarnation", make: incarnation, steps: []explore.Step{create(a), remove(a), create(a)},
			plan: "stale-restart 3", finding: "secrets default/a was created once, in the undisturbed run never",
		}, {
			name: "missed", make: missed, steps: []explore.Step{create(held(a)), removeHeld("a"), create(b)},
			plan: "collapse 2 configmaps", finding: "secrets vault/a exists",
		}, {
			name: "journal", make: journal, steps: []explore.Step{create(aWidget("a", "x")), setText("a", "y"), create(aWidget("b", "z"))},
			plan: "crash-after create configmaps default/journal", finding: `.data.a is "x\nx\n"`,
		}, {
			name: "finalizer", make: finalizer, steps: []explore.Step{create(a), remove(a)},
			plan: "crash-after update configmaps default/a #2", finding: "secrets vault/a exists",
		}, {
			name: "orphan", make: orphan, steps: []explore.Step{create(a, secret(namespace, "a", nil)), remove(a)},
			plan: "slow-events configmaps", finding: "secrets default/a is missing",
		}, {
			name: "pool", make: pool, steps: []explore.Step{create(aWidget("a", "")), create(secret(namespace, "pool-1", nil), aWidget("b", ""))},
			plan: "slow-events secrets", finding: `secrets default/pool-1: .metadata.labels is {"widget":"b"}`,
		}, {
			name: "resize", make: resize, steps: []explore.Step{create(statefulSet("db", 3)), scale("db", 1), scale("db", 2)},
			plan: "crash-after delete pods default/db-2", finding: "pods default/db-1 exists",
		}, {
			name: "leaders", make: leaders, replicas: 2, steps: []explore.Step{create(a), create(b)},
			plan: "takeover create secrets", finding: "there are 2 secrets",
		}, {
			name: "again", make: again, steps: []explore.Step{create(job("a")), create(job("b"))},
			plan: "lost-answer create pods", finding: "there are 2 pods",
		}, {
			name: "conditions", make: conditions, steps: []explore.Step{create(aWidget("a", "x")), approve("a"), setText("a", "y")},
			plan: "stale-restart 2 before update widgets default/a #1", finding: "widgets default/a: .status.conditions is",
		}, {
			name: "ports", make: ports, steps: []explore.Step{create(a), create(b)},
			plan: "restart 1", finding: `configmaps default/b: .metadata.annotations.port is "30000"`,
		}, {
			name: "pair", make: pair, steps: []explore.Step{create(aWidget("a", "")), remove(aWidget("a", ""))},
			plan: "answer-500 create secrets", finding: "secrets default/a is missing",
		}, {
			name: "count", make: count, steps: []explore.Step{create(replicaSet("a")), create(pod("a-1", "a")), create(pod("a-2", "a"))},
			plan: "lost-answer update replicasets/status", finding: "replicasets default/a: .status.replicas is",
		}, {
			name: "resume", make: resume, steps: []explore.Step{create(configMap(namespace, "notes", map[string]string{"app": "a"}), job("a")), create(job("b"))},
			plan: "crash-after create configmaps default/a-0", finding: "configmaps default/notes is missing",
		}, {
			name: "front", make: front, steps: []explore.Step{create(a), create(b), remove(a)},
			plan: "crash-after create services", finding: "there are 2 services",
			masked: []string{"services .spec.ports[].nodePort"},
		}, {
			name: "releasing", make: releasing, replicas: 2, steps: []explore.Step{create(a), create(b)},
			plan: "takeover create secrets", finding: "there are 2 secrets",
		}, {
			name: "leakWhileLeading", make: leakWhileLeading, replicas: 2, steps: []explore.Step{create(aWidget("a", "x")), remove(aWidget("a", ""))},
			plan: "crash-after create configmaps", finding: "there are 2 configmaps",
		}, {
			name: "starts", make: starts, steps: []explore.Step{create(a), create(b)},
			plan: "answer-500 create secrets", finding: "secrets default/",
		}, {
			name: "bucket", make: bucket, steps: []explore.Step{create(a), remove(a), blink("b")},
			plan: "down 2 after create secrets vault/a", finding: "secrets vault/a exists",
		}, {
			name: "portlist", make: portlist, steps: []explore.Step{
				create(withData(configMap(namespace, "ports", nil), map[string]string{"http": "80", "amqp": "5672"})),
				setData("ports", map[string]string{"http": "80", "amqp": "5672", "metrics": "9090"}),
			},
			plan: "interfere-entry patch services", finding: "services default/web has lost an item of .spec.ports",
		}, {
			name: "requeue", make: requeue, steps: []explore.Step{createTwice("a"), remove(aWidget("a", "")), create(aWidget("a", ""))},
			plan: "collapse 1 services", finding: "services default/a-1 exists",
		}, {
			name: "shuffle", make: shuffle, steps: []explore.Step{create(withData(a, map[string]string{"x": "", "y": ""})), create(b)},
			plan: "crash-after update configmaps", finding: "secrets default/a is missing",
			masked: []string{"secrets .data.keys"},
		}, {
			name: "volumes", make: volumes, steps: []explore.Step{create(a), remove(a), create(a)}, world: explore.Workloads,
			plan: "stale-restart 1 configmaps before create configmaps default/a", finding: "persistentvolumeclaims default/a was deleted once",
		}, {
			name: "tenant", make: tenant, steps: []explore.Step{create(a), create(b)},
			plan: "interfere update namespaces t-a", finding: "namespaces t-a has lost the annotation",
		}, {
			name: "holding", make: holding, steps: []explore.Step{create(aWidget("a", "x")), remove(aWidget("a", ""))},
			plan: "interfere-finalizer patch widgets", finding: "widgets default/a has lost the finalizer",
		}, {
			name: "adopt", make: adopt, steps: []explore.Step{create(secret(namespace, "s", nil), aWidget("a", "s")), create(aWidget("b", "s"))},
			plan: "interfere-owner patch secrets", finding: "secrets default/s has lost the owner",
		}, {
			name: "password", make: password, steps: []explore.Step{create(a), create(b)},
			plan: "crash-after create secrets default/a", finding: ".data.password, which differs from run to run, has changed once",
			masked: []string{"secrets .data.password"},
		}, {
			name: "scaled", make: scaled, steps: []explore.Step{create(aWidget("a", "1")), setText("a", "5")},
			plan: "stale-restart 2", finding: ".spec.replicas went from 5 to 1 and back",
		}, {
			name: "remembers", make: remembers, steps: []explore.Step{create(aWidget("a", "1")), setText("a", "5")},
			plan: "stale-restart 2 widgets", finding: ".spec.replicas went from 5 to 1 and back",
		}, {
			name: "hasty", make: hasty, steps: []explore.Step{create(a), changeAndAdd(a, secret(namespace, "a", nil))},
			plan: "answer-500 update configmaps", finding: "configmaps default/a: .metadata.labels",
		}, {
			name: "oneshot", make: oneshot, steps: []explore.Step{create(aWidget("a", "x")), setText("a", "y"), create(aWidget("b", "x"))}, world: explore.Workloads,
			plan: "down 2 after create jobs default/a-1", finding: "jobs default/a-1 exists",
		}, {
			name: "several", make: several, steps: []explore.Step{create(job("a")), create(job("b"))}, often: true,
			finding: "pods default/",
		},
	}
}

// prepared returns the API of all scenarios: the kinds that they need, Widgets, and a garbage collector.
func prepared(t *testing.T) *apitest.API { return preparedWith(t, apitest.Options{}) }

func preparedWith(t *testing.T, o apitest.Options) *apitest.API {
	groups := map[string]bool{"": true, "networking.k8s.io": true, "apps": true, "batch": true, "apiextensions.k8s.io": true}
	options, err := cluster.Options{
		GarbageCollection: true, Addresses: true, Plugins: []string{"StorageObjectInUseProtection"}, Serves: func(r schema.GroupVersionResource) bool { return groups[r.Group] },
	}.API(httpapi.Options{})
	require.NoError(t, err)
	o.API = options
	api := apitest.New(t, o)
	established, err := crd.Establish(definition(), "zoo")
	require.NoError(t, err)
	_, err = crd.Install(t.Context(), api.Handler(), established)
	require.NoError(t, err)
	return api
}

// runs returns how many runs each controller gets: ZOO_RUNS, or as many as find all mistakes.
func runs(t *testing.T) int {
	if text := os.Getenv("ZOO_RUNS"); text != "" {
		n, err := strconv.Atoi(text)
		require.NoError(t, err)
		return n
	}
	return 60
}

func TestEachMistakeIsFound(t *testing.T) {
	api := prepared(t)
	for _, a := range animals() {
		t.Run(a.name, func(t *testing.T) {
			r := a.explore(t, api, true)
			i := slices.IndexFunc(r.Findings, func(f *explore.Finding) bool {
				return strings.Contains(f.Text+"\n"+strings.Join(f.Details, "\n"), a.finding) && slices.ContainsFunc(f.Plans, func(p string) bool { return strings.HasPrefix(p, a.plan) })
			})
			if i < 0 {
				t.Fatalf("got the findings %s, want one that says %q by a plan %q", r.Findings, a.finding, a.plan)
			}
			f := r.Findings[i]
			assert.True(t, a.often || f.Of == f.Again, "how often the finding is repeated by its plan: %s", f)
		})
	}
}

func TestNothingIsFoundInTheMendedOnes(t *testing.T) {
	api := prepared(t)
	for _, a := range animals() {
		t.Run(a.name, func(t *testing.T) {
			for _, f := range a.explore(t, api, false).Findings {
				t.Errorf("%s", f)
			}
		})
	}
}

// What a server draws by its Seed differs between the undisturbed runs too: the address and the node port of a Service.
func TestNothingIsFoundWithASeed(t *testing.T) {
	api := preparedWith(t, apitest.Options{Store: store.Options{Seed: 7}})
	for _, a := range animals() {
		if a.name == "front" || a.name == "leak" {
			for _, f := range a.explore(t, api, false).Findings {
				t.Errorf("%s: %s", a.name, f)
			}
		}
	}
}

func (a *animal) explore(t *testing.T, api *apitest.API, wrong bool) *explore.Report {
	r, err := explore.Explore(t, explore.Scenario{
		API: api, Controllers: []explore.Controller{{Name: a.name, Run: a.make(wrong), Replicas: a.replicas}}, Steps: a.steps, World: a.world,
	}, explore.Options{Runs: runs(t), Budget: 10 * time.Minute})
	require.NoError(t, err)
	t.Logf("%s; no request met %q", r.Summary(), r.NoHit)
	for _, member := range r.Masked {
		assert.Contains(t, a.masked, member)
	}
	return r
}
