package cluster_test

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/httpapi/apitest"
	"github.com/kubecoord/kubecoord/httpapi/kube/cluster"
)

const (
	podPath    = "/api/v1/namespaces/default/pods"
	budgetPath = "/apis/policy/v1/namespaces/default/poddisruptionbudgets"

	running = `{"status":{"phase":"Running","conditions":[{"type":"Ready","status":"True"}]}}`
	unready = `{"status":{"phase":"Running","conditions":[{"type":"Ready","status":"False"}]}}`
)

// setStatus writes the status of an object.
func setStatus(t testing.TB, api *apitest.API, path, body string) {
	t.Helper()
	code, answer := do(t, api, request{method: "PATCH", path: path + "/status", body: body,
		header: http.Header{"Content-Type": {"application/merge-patch+json"}}})
	require.Equal(t, 200, code, answer)
}

// The codes and texts are of a kube-apiserver.
func TestEvictionsObeyBudgets(t *testing.T) {
	const refused = "Cannot evict pod as it would violate the pod's disruption budget."
	budget := func(spec, status string) [2]string {
		return [2]string{`{"metadata":{"name":"b1"},"spec":{"minAvailable":1,"selector":{"matchLabels":{"app":"x"}}` + spec + `}}`, status}
	}
	seen := func(members string) string { return `{"status":{"observedGeneration":1` + members + `}}` }
	none := seen(`,"currentHealthy":1,"desiredHealthy":1,"disruptionsAllowed":0,"expectedPods":1`)
	for _, row := range []struct {
		name, pod   string
		budgets     [][2]string // the object and its status
		code        int
		text, cause string
		retryAfter  any
	}{
		{"no disruption allowed", running, [][2]string{budget("", none)}, 429, refused, "The disruption budget b1 needs 1 healthy pods and has 1 currently", nil},
		{"none, with more pods than needed", running, [][2]string{budget("", seen(`,"currentHealthy":2,"desiredHealthy":1,"disruptionsAllowed":0`))}, 429, refused,
			"The disruption budget b1 does not allow evicting pods currently", nil},
		{"a failed sync", running, [][2]string{budget("", seen(`,"conditions":[{"type":"DisruptionAllowed","status":"False","reason":"SyncFailed","message":"why","lastTransitionTime":"2030-01-01T00:00:00Z"}]`))}, 429, refused,
			"The disruption budget b1 does not allow evicting pods currently because it failed sync: why", nil},
		{"a budget of other pods", running, [][2]string{{`{"metadata":{"name":"b2"},"spec":{"selector":{"matchLabels":{"app":"y"}}}}`, ""}}, 201, "", "", nil},
		{"a pod that has ended", `{"status":{"phase":"Succeeded"}}`, [][2]string{budget("", none)}, 201, "", "", nil},
		{"a pod that is not ready, with enough others", unready, [][2]string{budget("", none)}, 201, "", "", nil},
		{"a pod that is not ready, with too few others", unready, [][2]string{budget("", seen(`,"currentHealthy":0,"desiredHealthy":1`))}, 429, refused,
			"The disruption budget b1 needs 1 healthy pods and has 0 currently", nil},
		{"a pod that is not ready, where none is needed", unready, [][2]string{budget("", seen(`,"currentHealthy":0,"desiredHealthy":0,"disruptionsAllowed":0`))}, 429, refused,
			"The disruption budget b1 needs 0 healthy pods and has 0 currently", nil},
		{"a status of zeros", running, [][2]string{budget("", seen(`,"disruptionsAllowed":0,"disruptedPods":{}`))}, 429, refused,
			"The disruption budget b1 needs 0 healthy pods and has 0 currently", nil},
		{"a pod that is not ready, always allowed", unready, [][2]string{budget(`,"unhealthyPodEvictionPolicy":"AlwaysAllow"`, seen(`,"currentHealthy":0,"desiredHealthy":1`))}, 201, "", "", nil},
	} {
		t.Run(row.name, func(t *testing.T) {
			api := serve(t, cluster.Options{Disruptions: true}, apitest.Options{})
			create(t, api, podPath, `{"metadata":{"name":"p","labels":{"app":"x"}},"spec":{"containers":[{"name":"c","image":"i"}]}}`)
			if row.pod != "" {
				setStatus(t, api, podPath+"/p", row.pod)
			}
			for i, b := range row.budgets {
				create(t, api, budgetPath, b[0])
				if b[1] != "" {
					setStatus(t, api, budgetPath+"/b"+string(rune('1'+i)), b[1])
				}
			}
			code, body := do(t, api, request{method: "POST", path: podPath + "/p/eviction", body: `{"metadata":{"name":"p"}}`})
			require.Equal(t, row.code, code, body)
			left, _ := do(t, api, request{method: "GET", path: podPath + "/p"})
			if row.text == "" {
				assert.Equal(t, 404, left)
				return
			}
			assert.Equal(t, 200, left)
			assert.Equal(t, row.text, member(t, body, "message"))
			assert.Equal(t, row.retryAfter, member(t, body, "details", "retryAfterSeconds"))
			if row.cause != "" {
				assert.Equal(t, `[{"message":"`+row.cause+`","reason":"DisruptionBudget"}]`, asJSON(t, body, "details", "causes"))
			}
		})
	}
}

// TestAStatusOfAnOlderGenerationAllowsNothing: a budget that was changed counts once its controller has seen the change.
func TestAStatusOfAnOlderGenerationAllowsNothing(t *testing.T) {
	api := serve(t, cluster.Options{Disruptions: true}, apitest.Options{})
	create(t, api, podPath, `{"metadata":{"name":"p","labels":{"app":"x"}},"spec":{"containers":[{"name":"c","image":"i"}]}}`)
	setStatus(t, api, podPath+"/p", running)
	create(t, api, budgetPath, `{"metadata":{"name":"b"},"spec":{"minAvailable":1,"selector":{"matchLabels":{"app":"x"}}}}`)
	setStatus(t, api, budgetPath+"/b", `{"status":{"observedGeneration":1,"currentHealthy":2,"desiredHealthy":1,"disruptionsAllowed":1,"expectedPods":2}}`)
	code, body := do(t, api, request{method: "PATCH", path: budgetPath + "/b", body: `{"spec":{"minAvailable":2}}`,
		header: http.Header{"Content-Type": {"application/merge-patch+json"}}})
	require.Equal(t, 200, code, body)
	code, body = do(t, api, request{method: "POST", path: podPath + "/p/eviction", body: `{"metadata":{"name":"p"}}`})
	require.Equal(t, 429, code, body)
	assert.Equal(t, 10.0, member(t, body, "details", "retryAfterSeconds"))
}

func TestEvictionsAtOnceTakeNoMoreThanTheBudgetAllows(t *testing.T) {
	const pods, allowed = 16, 5
	api := serve(t, cluster.Options{Disruptions: true}, apitest.Options{})
	for i := range pods {
		create(t, api, podPath, fmt.Sprintf(`{"metadata":{"name":"p%d","labels":{"app":"x"}},"spec":{"containers":[{"name":"c","image":"i"}]}}`, i))
		setStatus(t, api, fmt.Sprintf("%s/p%d", podPath, i), running)
	}
	create(t, api, budgetPath, `{"metadata":{"name":"b"},"spec":{"selector":{}}}`)
	setStatus(t, api, budgetPath+"/b", fmt.Sprintf(`{"status":{"observedGeneration":1,"disruptionsAllowed":%d}}`, allowed))
	codes := make([]int, pods)
	var group sync.WaitGroup
	for i := range pods {
		group.Go(func() {
			body := fmt.Sprintf(`{"metadata":{"name":"p%d"}}`, i)
			req, err := http.NewRequestWithContext(t.Context(), "POST", fmt.Sprintf("%s%s/p%d/eviction", api.Host(), podPath, i), strings.NewReader(body))
			if !assert.NoError(t, err) {
				return
			}
			if resp, err := api.Transport().RoundTrip(req); assert.NoError(t, err) {
				codes[i] = resp.StatusCode
				resp.Body.Close()
			}
		})
	}
	group.Wait()
	count := map[int]int{}
	for _, code := range codes {
		count[code]++
	}
	assert.Equal(t, map[int]int{201: allowed, 429: pods - allowed}, count)
}
