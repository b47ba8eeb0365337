package member

import (
	"context"
	"time"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	"google.golang.org/grpc"
)

// grace is how long requests of others, and the move of the leadership to another member, may
// take at the end.
const grace = 2 * time.Second

// stop ends etcd. Etcd.Close waits for the listeners of clients, and these for a leader or for
// the end of the server, which Close itself brings about only afterwards. So a server that has
// no leader is stopped first. Later, Close waits up to 7 seconds for requests and then as long
// for another leader: it gets the grace.
func (m *Member) stop() {
	m.cancel()
	if m.client != nil {
		m.client.Close()
	}
	server := m.etcd.Server
	select {
	case <-server.ReadyNotify():
	default:
		server.HardStop()
	}
	closed := make(chan struct{})
	go func() {
		defer close(closed)
		m.etcd.Close()
	}()
	select {
	case <-closed:
	case <-time.After(grace):
		server.HardStop()
		<-closed
	}
}

// endStreams ends the watches of others at the end of the member, as if it had ended: their
// clients go to another one. Otherwise Close would wait for them.
func (m *Member) endStreams(srv any, ss grpc.ServerStream, _ *grpc.StreamServerInfo, handle grpc.StreamHandler) error {
	ctx, cancel := context.WithCancel(ss.Context())
	defer cancel()
	defer context.AfterFunc(m.ctx, cancel)()
	err := handle(srv, stream{ss, ctx})
	if m.ctx.Err() != nil {
		return rpctypes.ErrGRPCStopped
	}
	return err
}

// stream is a stream with another context.
type stream struct {
	grpc.ServerStream
	ctx context.Context
}

// Context implements grpc.ServerStream.
func (s stream) Context() context.Context { return s.ctx }
