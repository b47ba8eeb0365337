package explore_test

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/endpoints"
	"github.com/kubecoord/kubecoord/httpapi/apitest"
	"github.com/kubecoord/kubecoord/httpapi/apitest/explore"
	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/store/meta"
	"github.com/kubecoord/kubecoord/watch"
)

// A controller that looks at events only, and not at what is there when it starts.
func forgetful(ctx context.Context, c explore.Conn) error {
	leases, children, err := collections(c)
	if err != nil {
		return err
	}
	for e, err := range leases.Follow(ctx, store.WatchOptions{Namespace: "default"}) {
		switch {
		case err != nil:
			return err // the process ends, and is started again
		case e.Type == watch.Deleted:
			_, err = children.Delete(ctx, "default", e.Object.Name, store.DeleteOptions{})
		case e.Object != nil:
			_, err = children.Create(ctx, &endpoints.Endpoints{ObjectMeta: meta.ObjectMeta{Namespace: "default", Name: e.Object.Name}}, store.CreateOptions{})
		}
		if err != nil && !errors.Is(err, store.ErrNotFound) && !errors.Is(err, store.ErrAlreadyExists) {
			return err
		}
	}
	return nil
}

// Explore returns what it finds: an Endpoints that stays when the controller crashes before it deletes it.
func TestForgetfulControllerLeavesAChild(t *testing.T) {
	report, err := explore.Explore(t, explore.Scenario{
		API:         apitest.New(t),
		Controllers: []explore.Controller{{Run: forgetful}},
		Steps:       comeAndGo(),
	}, explore.Options{Plans: []string{"crash-before delete endpoints default/a #1"}})
	require.NoError(t, err)
	finding := only(t, report)
	assert.Contains(t, finding.Text, `after step 2 "delete a": endpoints default/a exists, in the undisturbed run it does not`)
	assert.Equal(t, finding.Of, finding.Again)
}

// only returns the finding of a report that has one.
func only(t *testing.T, r *explore.Report) *explore.Finding {
	t.Log(r.Summary())
	require.Len(t, r.Findings, 1)
	return r.Findings[0]
}
