package crd

import (
	"context"
	"errors"
	"time"

	"k8s.io/apiextensions-apiserver/pkg/apihelpers"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/store/admission"
	"github.com/kubecoord/kubecoord/store/clock"
	"github.com/kubecoord/kubecoord/store/meta"
)

// This file deletes the objects of a definition before the definition goes (upstream: controller/finalizer/crd_finalizer.go).
// It runs in a goroutine of its own, since the last object may be gone late. A write of a definition is refused if that has
// another state or another uid meanwhile; the goroutine then reads it again.

// end begins the deletion of the objects of a definition.
func (c *controller) end(ctx context.Context, d *definition) {
	if d.cancel != nil {
		return
	}
	ctx, d.cancel = context.WithCancel(ctx)
	d.ended = make(chan struct{})
	name, uid := d.crd.Name, d.crd.UID
	c.ending.Go(func() {
		defer close(d.ended)
		for ctx.Err() == nil {
			err := c.finalize(ctx, d, name, uid)
			switch {
			case err == nil:
				return
			case !errors.Is(err, store.ErrConflict) && !errors.Is(err, store.ErrNotFound):
				c.pause(ctx)
			}
		}
	})
}

// retryWait is the time between two attempts, of which the first one failed.
const retryWait = time.Second

func (c *controller) pause(ctx context.Context) {
	clk := c.st.Clock()
	ctx, cancel := clock.WithDeadline(ctx, clk, clk.Now().Add(retryWait), context.DeadlineExceeded)
	defer cancel()
	<-ctx.Done()
}

// errReplaced means that the kind was replaced during an attempt.
var errReplaced = errors.New("crd: the kind was replaced")

// finalize makes one attempt to delete the objects of a definition and to release it. The result is nil if there is no more to do.
func (c *controller) finalize(ctx context.Context, d *definition, name string, uid types.UID) error {
	crd, err := c.definitions.Get(ctx, "", name)
	switch {
	case errors.Is(err, store.ErrNotFound):
		return nil
	case err != nil:
		return err
	case crd.UID != uid || !apihelpers.CRDHasFinalizer(crd, apiextensionsv1.CustomResourceCleanupFinalizer):
		return nil
	}
	crd, err = c.terminating(ctx, crd, apiextensionsv1.ConditionTrue, "InstanceDeletionInProgress", "CustomResource deletion is in progress")
	if err != nil {
		return err
	}
	last := apiextensionsv1.CustomResourceDefinitionCondition{
		Status: apiextensionsv1.ConditionFalse, Reason: "NeverEstablished", Message: "resource was never established",
	}
	switch {
	case overlaps(name):
		last.Reason, last.Message = "OverlappingBuiltInResource", "instances overlap with built-in resources in storage"
	case apihelpers.IsCRDConditionTrue(crd, apiextensionsv1.Established):
		reason, text, err := c.deleteObjects(ctx, c.kindOf(d))
		switch {
		case err == errReplaced:
			return err
		case err != nil:
			c.terminating(ctx, crd, apiextensionsv1.ConditionTrue, reason, text+err.Error())
			return err
		}
		last.Reason, last.Message = "InstanceDeletionCompleted", "removed all instances"
	}
	return c.release(ctx, d, crd, last)
}

// overlaps reports whether a definition has the name of a built-in kind with a storage of the same name (upstream:
// finalizer.OverlappingBuiltInResources).
func overlaps(name string) bool {
	return name == "apiservices.apiregistration.k8s.io" || name == "customresourcedefinitions.apiextensions.k8s.io"
}

// release removes the finalizer, and with the last one the definition. If there are others, it sets the last condition first;
// otherwise no client would see it. Then the kind is still served, and objects can be created again, as on a real server.
func (c *controller) release(ctx context.Context, d *definition, crd *apiextensionsv1.CustomResourceDefinition, last apiextensionsv1.CustomResourceDefinitionCondition) (err error) {
	if len(crd.Finalizers) > 1 {
		if crd, err = c.terminating(ctx, crd, last.Status, last.Reason, last.Message); err != nil {
			return err
		}
	} else {
		c.stop(ctx, d, true)
	}
	apihelpers.CRDRemoveFinalizer(crd, apiextensionsv1.CustomResourceCleanupFinalizer)
	_, err = c.definitions.Update(ctx, crd, store.UpdateOptions{FieldManager: fieldManager})
	return err
}

// terminating writes the condition Terminating.
func (c *controller) terminating(ctx context.Context, crd *apiextensionsv1.CustomResourceDefinition, status apiextensionsv1.ConditionStatus, reason, message string) (*apiextensionsv1.CustomResourceDefinition, error) {
	setCondition(crd, c.st.Clock().Now(), apiextensionsv1.CustomResourceDefinitionCondition{
		Type: apiextensionsv1.Terminating, Status: status, Reason: reason, Message: message,
	})
	return c.write(ctx, crd)
}

// deletionWait is how long an attempt waits for finalizers of objects.
const deletionWait = time.Minute

// deleteObjects deletes the objects of a kind, which may be nil, and waits until they are gone. The error has the reason and the
// beginning of the message of a condition.
func (c *controller) deleteObjects(ctx context.Context, k *definedKind) (reason, text string, err error) {
	if k == nil {
		return "", "", nil // the API has never served it
	}
	reason, text = "InstanceDeletionFailed", "could not issue all deletes: "
	objects, err := c.st.Objects(k)
	if err != nil {
		return "", "", errReplaced
	}
	err = objects.DeleteCollection(admission.Below(ctx), "", store.DeleteOptions{})
	if errors.Is(err, meta.ReasonTooManyRequests) {
		return "", "", errReplaced
	}
	if err != nil {
		return reason, text, err
	}
	reason, text = "InstanceDeletionCheck", "could not confirm zero CustomResources remaining: "
	clk := c.st.Clock()
	waiting, cancel := clock.WithDeadline(ctx, clk, clk.Now().Add(deletionWait), context.DeadlineExceeded)
	defer cancel()
	for _, err := range c.st.Changes(waiting) { // the first element comes at once
		switch _, replaced := c.st.Objects(k); {
		case objects.Len() == 0:
			return "", "", nil
		case waiting.Err() != nil:
			return reason, text, context.DeadlineExceeded
		case err != nil || replaced != nil:
			return "", "", errReplaced
		}
	}
	return "", "", errReplaced
}
