package etcd

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	"go.etcd.io/etcd/client/v3/kubernetes"

	"github.com/kubecoord/kubecoord/store/kind"
)

// checkTimeout is how long an endpoint may take to answer with its status.
const checkTimeout = 5 * time.Second

// check returns an error if etcd or the prefix cannot be used, as far as it can be known.
func (e *etcd) check(ctx context.Context, kinds []kind.Kind) error {
	if err := e.checkMembers(ctx); err != nil {
		return err
	}
	if err := e.checkAccess(ctx); err != nil {
		return err
	}
	var ours []string
	for _, k := range kinds {
		ours = append(ours, k.Info().StoragePrefix)
	}
	return e.checkPrefix(ctx, ours)
}

// checkMembers asks every endpoint for its status. One that answers must be of a supported version,
// and all that answer must be of one cluster. It fails if none answers.
func (e *etcd) checkMembers(ctx context.Context) error {
	endpoints := e.client.Endpoints()
	if len(endpoints) == 0 {
		endpoints = []string{inProcess}
	}
	statuses, errs := make([]*pb.StatusResponse, len(endpoints)), make([]error, len(endpoints))
	var asked sync.WaitGroup
	for i, endpoint := range endpoints {
		asked.Go(func() {
			ctx, cancel := context.WithTimeout(ctx, checkTimeout)
			defer cancel()
			statuses[i], errs[i] = e.status(ctx, endpoint)
		})
	}
	asked.Wait()
	first := -1
	for i, endpoint := range endpoints {
		if errs[i] != nil {
			errs[i] = explain(endpoint, errs[i])
			continue
		}
		s := statuses[i]
		if !supported(s.Version) {
			return fmt.Errorf("etcd: member %x at %s has version %s: 3.4.31 or later of 3.4, or 3.5.13 or later is needed, "+
				"because others send progress before the changes: upgrade it", s.Header.GetMemberId(), endpoint, s.Version)
		}
		for _, alarm := range s.Errors {
			e.log.Warn("etcd: a member has a problem", "endpoint", endpoint, "problem", alarm)
		}
		if first < 0 {
			first = i
			e.isKine = s.Header.GetClusterId() == 0
		} else if was := statuses[first].Header.GetClusterId(); was != s.Header.GetClusterId() {
			return fmt.Errorf("etcd: %s and %s are members of different clusters, %x and %x: give only the endpoints of one",
				endpoints[first], endpoint, was, s.Header.GetClusterId())
		}
	}
	if first < 0 {
		return fmt.Errorf("etcd: no endpoint answers: %w", errors.Join(errs...))
	}
	for _, err := range errs {
		if err != nil {
			e.log.Warn("etcd: an endpoint does not answer", "error", err)
		}
	}
	return nil
}

// inProcess is the endpoint of a client that needs no connection.
const inProcess = "in this process"

// status asks an endpoint for its status. Client.Status would try again until ctx ends, and not
// say why.
func (e *etcd) status(ctx context.Context, endpoint string) (*pb.StatusResponse, error) {
	if endpoint == inProcess {
		s, err := e.client.Status(ctx, endpoint)
		return (*pb.StatusResponse)(s), err
	}
	conn, err := e.client.Dial(endpoint)
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	return pb.NewMaintenanceClient(conn).Status(ctx, &pb.StatusRequest{})
}

// supported reports whether the progress of watches is right in a version of etcd:
// https://github.com/etcd-io/etcd/issues/15220 and 17507.
func supported(version string) bool {
	var major, minor, patch int
	if n, _ := fmt.Sscanf(version, "%d.%d.%d", &major, &minor, &patch); n != 3 {
		return false
	}
	v := [3]int{major, minor, patch}
	return slices.Compare(v[:], []int{3, 5, 13}) >= 0 || major == 3 && minor == 4 && patch >= 31
}

// checkAccess finds out whether keys below the prefix can be read and written, without a
// write: no key has the revision that the transaction expects.
func (e *etcd) checkAccess(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, checkTimeout)
	defer cancel()
	if _, err := e.client.Get(ctx, e.prefix, kubernetes.GetOptions{}); err != nil {
		return explain("etcd: read keys below "+e.prefix, err)
	}
	if e.isKine {
		return nil // it has no users
	}
	_, err := e.client.OptimisticPut(ctx, e.prefix+healthKey, nil, math.MaxInt64, kubernetes.PutOptions{GetOnFailure: true})
	if errors.Is(err, rpctypes.ErrNoSpace) {
		e.log.Warn("etcd: only reads and deletions are possible", "error", explain("write", err))
		return nil
	}
	if err != nil {
		return explain("etcd: write keys below "+e.prefix, err)
	}
	return nil
}

// checkPrefix looks at the keys below the prefix. It must be empty, or have a key of one of
// our kinds.
func (e *etcd) checkPrefix(ctx context.Context, ours []string) error {
	ctx, cancel := context.WithTimeout(ctx, checkTimeout)
	defer cancel()
	for _, kind := range ours {
		r, err := e.client.List(ctx, e.prefix+kind+"/", kubernetes.ListOptions{Limit: 1})
		if err != nil {
			return explain("etcd: list keys below "+e.prefix, err)
		}
		if len(r.Kvs) > 0 {
			return nil
		}
	}
	var found []string
	for from := ""; len(found) < 5; {
		r, err := e.client.List(ctx, e.prefix, kubernetes.ListOptions{Limit: 1, Continue: from})
		if err != nil {
			return explain("etcd: list keys below "+e.prefix, err)
		}
		if len(r.Kvs) == 0 {
			break
		}
		segment, _, _ := strings.Cut(string(r.Kvs[0].Key)[len(e.prefix):], "/")
		if segment != healthKey { // kine makes that
			found = append(found, segment)
		}
		from = e.prefix + segment + "0" // after all keys of the segment: "0" follows "/"
	}
	if len(found) > 0 {
		return fmt.Errorf("etcd: the keys below %s are not ours: there are %s, and none of %s. Is the prefix right? "+
			"That of a real API server is %s. Otherwise give one that nobody else uses",
			e.prefix, strings.Join(found, ", "), strings.Join(ours, ", "), DefaultPrefix)
	}
	return nil
}

// explain adds to an error what can be done about it.
func explain(what string, err error) error {
	text, advice := err.Error(), ""
	has := func(parts ...string) bool {
		return slices.ContainsFunc(parts, func(p string) bool { return strings.Contains(text, p) })
	}
	switch {
	case has("x509:"):
		advice = "the certificate of etcd is not trusted: give the CA that signed it, and the name that it holds"
	case has("certificate required", "bad certificate", "tls: unknown certificate", "handshake failure"):
		advice = "etcd wants a client certificate that its CA signed"
	case has("first record does not look like a TLS handshake", "handshake failed: EOF"):
		advice = "does etcd use TLS there? Otherwise use http://"
	case has("error reading server preface", "malformed HTTP response", "http2: frame too large"):
		advice = "does etcd use TLS there? Then use https://"
	case errors.Is(err, rpctypes.ErrAuthFailed), has("invalid user ID or password"):
		advice = "the user or the password is wrong"
	case errors.Is(err, rpctypes.ErrUserEmpty), has("user name is empty"):
		advice = "etcd wants a user: give the name and the password, or a client certificate with the name as CN"
	case errors.Is(err, rpctypes.ErrPermissionDenied), has("permission denied"):
		advice = "give a role of the user readwrite permission for the prefix and for the key " + compactRevKey
	case errors.Is(err, rpctypes.ErrNoSpace):
		advice = "compact and defragment etcd, then clear the alarm with etcdctl alarm disarm, or raise its quota"
	case has("connection refused", "no such host", "i/o timeout", "no route to host"):
		advice = "is etcd running there?"
	case errors.Is(err, context.DeadlineExceeded), has("DeadlineExceeded"):
		advice = "it does not answer in time: is it reachable, and has the cluster a leader?"
	default:
		return fmt.Errorf("%s: %w", what, err)
	}
	return fmt.Errorf("%s: %w: %s", what, err, advice)
}
