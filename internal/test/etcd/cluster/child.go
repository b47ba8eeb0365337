package cluster

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"syscall"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/server/v3/embed"

	"github.com/kubecoord/kubecoord/httpapi"
	"github.com/kubecoord/kubecoord/internal/test/etcd/kinetest"
	"github.com/kubecoord/kubecoord/store"
	"github.com/kubecoord/kubecoord/store/clock"
	"github.com/kubecoord/kubecoord/store/etcd"
	"github.com/kubecoord/kubecoord/store/etcd/member"
)

// job is the work of a child process.
type job struct {
	Member  *memberJob
	Kine    *kineJob
	Replica *replicaJob
}

type kineJob struct{ Binary, Dir, Address string }

type memberJob struct {
	Dir, Name, ClientURL, PeerURL, AdvertisedPeerURL, Cluster string
}

type replicaJob struct {
	Endpoints       []string
	Prefix, Address string
	History         int
}

// variable is the environment variable that holds the job of a child.
const variable = "KUBECOORD_TEST_CHILD"

// Child does the job of a child process, and does not return from it. In the process of the
// test itself it returns at once.
func Child() {
	text := os.Getenv(variable)
	if text == "" {
		return
	}
	var j job
	err := json.Unmarshal([]byte(text), &j)
	if err == nil {
		err = j.do()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

func (j job) do() error {
	switch {
	case j.Member != nil:
		return j.Member.do()
	case j.Kine != nil: // the process becomes kine
		return syscall.Exec(j.Kine.Binary, append([]string{"kine"}, kinetest.Args(j.Kine.Dir, j.Kine.Address)...), os.Environ())
	}
	return j.Replica.do()
}

// ready says that the child is ready, and waits until its parent ends it or is gone.
func ready() {
	fmt.Println("ready")
	_, _ = io.Copy(io.Discard, os.Stdin)
}

func (j memberJob) do() error {
	m, err := member.Start(context.Background(), j.Dir, member.Options{
		Name: j.Name, ClientURL: j.ClientURL, PeerURL: j.AdvertisedPeerURL,
		Configure: func(c *embed.Config) { // all members begin at once
			c.InitialCluster, c.InitialClusterToken = j.Cluster, "faults"
			c.ListenPeerUrls = embedURL(j.PeerURL)
			c.UnsafeNoFsync = true // processes die here, not machines
		},
	})
	if err != nil {
		return err
	}
	go func() {
		<-m.Failed()
		fmt.Fprintln(os.Stderr, m.Err())
		os.Exit(1)
	}()
	ready()
	return m.Close()
}

// jumpingTime is the clock of a machine that goes an hour forward or back every 7 seconds, or
// returns, in each replica at other moments.
func jumpingTime() time.Time {
	now := time.Now()
	return now.Add(time.Duration((now.Unix()+5*int64(os.Getpid()))/7%3-1) * time.Hour)
}

func (j replicaJob) do() error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	open := func() (*store.Store, error) {
		return etcd.Open(ctx, clientv3.Config{Endpoints: j.Endpoints}, j.Prefix, etcd.Options{
			Store: store.Options{History: j.History, Clock: clock.Func(jumpingTime)}, CompactionInterval: -1,
			Log: slog.New(slog.NewTextHandler(os.Stderr, nil)),
		})
	}
	st, err := open()
	for err != nil && ctx.Err() == nil { // etcd may have no leader yet
		st, err = open()
	}
	if err != nil {
		return err
	}
	defer st.Close()
	api := httpapi.New(st, httpapi.Options{})
	defer api.Close()
	l, err := net.Listen("tcp", j.Address)
	if err != nil {
		return err
	}
	s := &http.Server{Handler: api}
	go func() {
		if err := s.Serve(l); !errors.Is(err, http.ErrServerClosed) {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}()
	ready()
	return s.Close()
}
