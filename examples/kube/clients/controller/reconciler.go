package main

import (
	"context"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// reconciler updates Pools when their members change.
type reconciler struct{ client.Client }

// Reconcile publishes the live members of one Pool and updates its status. It runs again
// when the next member expires.
func (r reconciler) Reconcile(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
	pool := &Pool{}
	if err := r.Get(ctx, req.NamespacedName, pool); err != nil {
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	if !pool.DeletionTimestamp.IsZero() {
		return reconcile.Result{}, nil // the garbage collector deletes the Endpoints
	}
	leases := &coordinationv1.LeaseList{}
	if err := r.List(ctx, leases, client.InNamespace(pool.Namespace), client.MatchingLabels(pool.Spec.Members)); err != nil {
		return reconcile.Result{}, err
	}
	now := time.Now()
	c := censusOf(leases.Items, now)
	if err := r.publish(ctx, pool, c); err != nil {
		return reconcile.Result{}, err
	}
	if err := r.report(ctx, pool, c); err != nil {
		return reconcile.Result{}, err
	}
	if c.next.IsZero() {
		return reconcile.Result{}, nil
	}
	return reconcile.Result{RequeueAfter: c.next.Sub(now)}, nil
}

// publish writes the Endpoints of a Pool.
func (r reconciler) publish(ctx context.Context, pool *Pool, c census) error {
	endpoints := &corev1.Endpoints{ObjectMeta: metav1.ObjectMeta{Namespace: pool.Namespace, Name: pool.Name}}
	_, err := controllerutil.CreateOrUpdate(ctx, r, endpoints, func() error {
		endpoints.Subsets = nil
		if c.members > 0 {
			endpoints.Subsets = []corev1.EndpointSubset{{
				Addresses: c.alive, NotReadyAddresses: c.dead,
				Ports: []corev1.EndpointPort{{Port: pool.Spec.Port, Protocol: corev1.ProtocolTCP}},
			}}
		}
		return controllerutil.SetControllerReference(pool, endpoints, r.Scheme())
	})
	return err
}

// report writes the status of a Pool if it has changed. If another writer was faster,
// the update is a conflict, and Reconcile runs again.
func (r reconciler) report(ctx context.Context, pool *Pool, c census) error {
	before := pool.Status.Conditions
	status := PoolStatus{
		ObservedGeneration: pool.Generation, Members: int32(c.members), Ready: int32(len(c.alive)),
		Conditions: slices.Clone(before),
	}
	condition := metav1.Condition{
		Type: available, Status: metav1.ConditionTrue, Reason: "EnoughAlive", ObservedGeneration: pool.Generation,
		Message: fmt.Sprintf("%d of %d alive", len(c.alive), c.members),
	}
	if status.Ready < pool.Spec.MinReady {
		condition.Status, condition.Reason = metav1.ConditionFalse, "TooFewAlive"
	}
	meta.SetStatusCondition(&status.Conditions, condition)
	if equality.Semantic.DeepEqual(status, pool.Status) {
		return nil
	}
	pool.Status = status
	return r.Status().Update(ctx, pool)
}

// census lists the members of a Pool.
type census struct {
	members     int
	alive, dead []corev1.EndpointAddress // in the order of their IPs
	next        time.Time                // when the next one expires, or zero
}

// censusOf counts the members that have an address.
func censusOf(leases []coordinationv1.Lease, now time.Time) (c census) {
	for _, l := range leases {
		ip, err := netip.ParseAddr(l.Annotations[addressAnnotation])
		if err != nil {
			continue
		}
		c.members++
		address := corev1.EndpointAddress{IP: ip.String()}
		expiry := expiryOf(&l)
		if !expiry.After(now) {
			c.dead = append(c.dead, address)
			continue
		}
		c.alive = append(c.alive, address)
		if c.next.IsZero() || expiry.Before(c.next) {
			c.next = expiry
		}
	}
	byIP := func(a, b corev1.EndpointAddress) int { return strings.Compare(a.IP, b.IP) }
	slices.SortFunc(c.alive, byIP)
	slices.SortFunc(c.dead, byIP)
	return c
}

// expiryOf returns when a Lease expires unless it is renewed. It trusts the clocks of
// the holders. That is good enough for serving traffic, but not for an election.
func expiryOf(l *coordinationv1.Lease) time.Time {
	if l.Spec.RenewTime == nil || l.Spec.LeaseDurationSeconds == nil {
		return time.Time{}
	}
	return l.Spec.RenewTime.Add(time.Duration(*l.Spec.LeaseDurationSeconds) * time.Second)
}
