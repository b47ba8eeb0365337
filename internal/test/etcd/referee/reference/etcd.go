package reference

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/server/v3/embed"
)

// firstVersion is the version of etcd before kube-apiserver starts. Older versions are compacted, because a few
// scenarios ask for version 1 and expect that it has expired.
const firstVersion = 1000

// startEtcd starts an etcd on loopback with its data below dir, and returns it with its URL.
func startEtcd(ctx context.Context, dir string) (*embed.Etcd, string, error) {
	cfg := embed.NewConfig()
	cfg.Dir = filepath.Join(dir, "etcd")
	cfg.LogLevel = "fatal"
	cfg.UnsafeNoFsync = true
	cfg.TickMs, cfg.ElectionMs = 50, 500
	// kube-apiserver learns from progress notices that its watch cache is up to date.
	cfg.WatchProgressNotifyInterval = 5 * time.Second
	client, err := loopback()
	if err != nil {
		return nil, "", err
	}
	peer, err := loopback()
	if err != nil {
		return nil, "", err
	}
	cfg.ListenClientUrls, cfg.AdvertiseClientUrls = []url.URL{client}, []url.URL{client}
	cfg.ListenPeerUrls, cfg.AdvertisePeerUrls = []url.URL{peer}, []url.URL{peer}
	cfg.InitialCluster = cfg.InitialClusterFromName(cfg.Name)
	etcd, err := embed.StartEtcd(cfg)
	if err != nil {
		return nil, "", err
	}
	if err := prepareEtcd(ctx, etcd, client.String()); err != nil {
		etcd.Close()
		return nil, "", err
	}
	return etcd, client.String(), nil
}

func prepareEtcd(ctx context.Context, etcd *embed.Etcd, endpoint string) error {
	select {
	case <-etcd.Server.ReadyNotify():
	case err := <-etcd.Err():
		return err
	case <-time.After(startLimit):
		return errors.New("etcd was not ready in time")
	case <-ctx.Done():
		return ctx.Err()
	}
	client, err := clientv3.New(clientv3.Config{Endpoints: []string{endpoint}, DialTimeout: 5 * time.Second})
	if err != nil {
		return err
	}
	defer client.Close()
	for version := int64(0); version < firstVersion; {
		put, err := client.Put(ctx, "warmup", "")
		if err != nil {
			return err
		}
		version = put.Header.Revision
	}
	if err := silenceElection(ctx, client); err != nil {
		return err
	}
	_, err = client.Compact(ctx, firstVersion)
	return err
}

// silenceElection stores the lease of the controller of coordinated leader election with another holder and a duration
// of years. Otherwise the controller would write to the Leases and candidates of the scenarios.
// Source: pkg/controlplane/controller/leaderelection/run_with_leaderelection.go.
func silenceElection(ctx context.Context, client *clientv3.Client) error {
	const lease = `{"kind":"Lease","apiVersion":"coordination.k8s.io/v1",` +
		`"metadata":{"name":"leader-election-controller","namespace":"kube-system","uid":"00000000-0000-4000-8000-000000000001","creationTimestamp":%q},` +
		`"spec":{"holderIdentity":"nobody","leaseDurationSeconds":2000000000,"acquireTime":%q,"renewTime":%q,"leaseTransitions":0}}`
	now := time.Now().UTC()
	micro := now.Format("2006-01-02T15:04:05.000000Z")
	_, err := client.Put(ctx, "/registry/leases/kube-system/leader-election-controller", fmt.Sprintf(lease, now.Format(time.RFC3339), micro, micro))
	return err
}
