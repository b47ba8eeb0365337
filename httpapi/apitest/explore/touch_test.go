package explore

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/kubecoord/kubecoord/httpapi/apitest"
)

// keeps is a controller that adds a finalizer to the Lease a by a merge patch of the whole list, with the resourceVersion of what it has read or without.
func keeps(blindly bool) []Controller {
	return once(func(ctx context.Context, c Conn) error {
		_, body, err := ask(ctx, c, http.MethodGet, leases+"/a", "")
		if err != nil || strings.Contains(body, "example.com/mine") {
			return err
		}
		_, rest, _ := strings.Cut(body, `"resourceVersion":"`)
		version, _, _ := strings.Cut(rest, `"`)
		others := ""
		if strings.Contains(body, touched) {
			others = `"` + touched + `",`
		}
		patch := `{"metadata":{"resourceVersion":"` + version + `","finalizers":[` + others + `"example.com/mine"]}}`
		if blindly {
			patch = `{"metadata":{"finalizers":[` + others + `"example.com/mine"]}}`
		}
		code, _, err := ask(ctx, c, http.MethodPatch, leases+"/a", patch)
		if err == nil && code != http.StatusOK {
			return fmt.Errorf("patch: %d", code)
		}
		return err
	})
}

// A merge patch of the finalizers drops that of somebody else, unless it says from which state it was made.
func TestFinalizersOfOthers(t *testing.T) {
	plan := Options{Plans: []string{"interfere-finalizer patch leases default/a #1"}}
	assert.Equal(t, []string{`in step 1 "create a": leases default/a has lost the finalizer that another client wrote just before patch leases default/a #1`},
		found(t, Scenario{Steps: []Step{create("a")}, Controllers: keeps(true)}, plan))
	assert.Empty(t, found(t, Scenario{Steps: []Step{create("a")}, Controllers: keeps(false)}, plan))
	assert.Equal(t, []string{addFinalizer}, additions(apitest.Request{Verb: "patch", Body: []byte(`{"metadata":{"finalizers":["x"]}}`)}))
	assert.Empty(t, additions(apitest.Request{Verb: "update", Body: []byte(`{"metadata":{"finalizers":["x"]}}`)}))
}

// An owner that a controller takes away also if it can see it is no loss: the list is its own.
func TestListsThatAControllerOwns(t *testing.T) {
	owned := func(enforce bool) []Controller {
		return once(func(ctx context.Context, c Conn) error {
			_, lease, err := ask(ctx, c, http.MethodGet, leases+"/a", "")
			if err != nil {
				return err
			}
			_, rest, _ := strings.Cut(lease, `"uid":"`)
			mine := `[{"apiVersion":"coordination.k8s.io/v1","kind":"Lease","name":"a","uid":"` + rest[:36] + `"}]`
			if _, _, err := ask(ctx, c, http.MethodPost, endpoints, leaseNamed("a")); err != nil {
				return err
			}
			_, child, err := ask(ctx, c, http.MethodGet, endpoints+"/a", "")
			if err != nil || strings.Contains(child, rest[:36]) && !(enforce && strings.Count(child, `"kind":`) > 2) {
				return err
			}
			_, _, err = ask(ctx, c, http.MethodPatch, endpoints+"/a", `{"metadata":{"ownerReferences":`+mine+`}}`)
			return err
		})
	}
	steps := []Step{create("b"), create("a")} // b can be an owner
	plan := Options{Plans: []string{"interfere-owner patch endpoints default/a #1"}}
	assert.Equal(t, []string{`in step 2 "create a": endpoints default/a has lost the owner that another client wrote just before patch endpoints default/a #1`},
		found(t, Scenario{Steps: steps, Controllers: owned(false)}, plan))
	assert.Empty(t, found(t, Scenario{Steps: steps, Controllers: owned(true)}, plan))
}

// A plan that can judge nothing says so.
func TestPlansThatCanJudgeNothing(t *testing.T) {
	s := labels()
	s.API = apitest.New(t)
	_, err := Explore(t, s, Options{Plans: []string{"interfere-condition update leases default/a #1"}})
	assert.ErrorContains(t, err, `plan "interfere-condition update leases default/a #1" can judge nothing: another client cannot add anything to leases default/a`)
}

// Items differ from the first one in their keys and in their name.
func TestAnotherItem(t *testing.T) {
	item, keys := another(parse([]byte(`{"port":80,"protocol":"TCP","name":"http"}`)), []string{"port", "protocol"})
	assert.Equal(t, "map[name:explore-touched port:1197 protocol:TCP]", fmt.Sprint(item))
	assert.Equal(t, "map[port:1197 protocol:TCP]", fmt.Sprint(keys))
	a := added{path: []string{"spec", "containers", "ports"}, keys: map[string]any{"port": 81}}
	assert.True(t, a.in(parse([]byte(`{"spec":{"containers":[{},{"ports":[{"port":80},{"port":81}]}]}}`))))
	assert.False(t, a.in(parse([]byte(`{"spec":{"containers":[{"ports":[{"port":80}]}]}}`))))
}
