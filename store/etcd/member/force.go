package member

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	bolt "go.etcd.io/bbolt"
	"go.etcd.io/etcd/client/pkg/v3/fileutil"
	"go.etcd.io/etcd/etcdutl/v3/snapshot"
	"go.etcd.io/etcd/server/v3/embed"
	"go.etcd.io/etcd/server/v3/etcdserver/api/membership"
	"go.etcd.io/etcd/server/v3/storage/wal"
	"go.etcd.io/etcd/server/v3/storage/wal/walpb"
	"go.uber.org/zap"
)

// versionsSkipped is by how much the revision grows in ForceNewCluster. The members that are
// lost may have confirmed writes that the survivor lacks. Their revisions must not come again.
const versionsSkipped = 1_000_000_000

// Forced describes the cluster that ForceNewCluster made.
type Forced struct {
	// Revision is the last one of the member, and FirstRevision the one at which the new
	// cluster begins. History before it counts as compacted.
	Revision, FirstRevision int64
	// Before is the directory with the data as it was. It may be removed.
	Before string
}

// ForceNewCluster makes a cluster of one member of the data in a directory, after a majority
// of its cluster was lost for good. The member must not run. What only the lost members had
// is lost. The cluster has another identity than before: the other members must start in empty
// directories, with Options.Join.
//
// It is refused if the member is alone already, and if another one answers. When it returns an
// error, the data is as before, or the next call goes on.
func ForceNewCluster(ctx context.Context, dir string, o Options) (*Forced, error) {
	m := newMember()
	defer m.cancel()
	defer m.release()
	f, err := m.force(ctx, dir, o)
	if err != nil {
		return nil, explain(dir, err)
	}
	return f, nil
}

func (m *Member) force(ctx context.Context, dir string, o Options) (*Forced, error) {
	if err := m.lockDirectory(dir); err != nil {
		return nil, err
	}
	data := filepath.Join(dir, "member")
	if before := setAside(dir); !wal.Exist(walDir(dir)) && len(before) > 0 {
		if err := os.Rename(before[len(before)-1], data); err != nil { // a call was interrupted
			return nil, err
		}
	}
	if err := m.checkLost(ctx, dir, o); err != nil {
		return nil, err
	}
	work := filepath.Join(dir, "force-new-cluster")
	if err := os.RemoveAll(work); err != nil {
		return nil, err
	}
	defer os.RemoveAll(work)
	f := &Forced{Before: filepath.Join(dir, beforePrefix+time.Now().UTC().Format("20060102T150405.000Z"))}
	if err := f.make(ctx, data, work, o); err != nil {
		return nil, err
	}
	if err := os.Rename(data, f.Before); err != nil {
		return nil, err
	}
	if err := os.Rename(filepath.Join(work, "new", "member"), data); err != nil {
		return nil, err
	}
	d, err := fileutil.OpenDir(dir)
	if err != nil {
		return nil, err
	}
	defer d.Close()
	return f, fileutil.Fsync(d)
}

// beforePrefix begins the name under which ForceNewCluster keeps the data as it was.
const beforePrefix = "member.before-"

// setAside returns the data that ForceNewCluster has put aside, the oldest first.
func setAside(dir string) []string {
	found, _ := filepath.Glob(filepath.Join(dir, beforePrefix+"*")) // fails only if the pattern is wrong
	return found
}

var errInterrupted = errors.New("ForceNewCluster was interrupted: call it again")

func walDir(dir string) string { return filepath.Join(dir, "member", "wal") }

// checkLost returns an error unless the majority is lost.
func (m *Member) checkLost(ctx context.Context, dir string, o Options) error {
	if !wal.Exist(walDir(dir)) {
		return errors.New("there is no data of a member: ForceNewCluster needs a survivor")
	}
	members, err := membersIn(filepath.Join(dir, "member", "snap", "db"))
	if err != nil {
		return err
	}
	if len(members) <= 1 {
		return errors.New("the member is alone already: start it without ForceNewCluster")
	}
	c, err := m.config(dir, o)
	if err != nil {
		return err
	}
	p, err := newProber(c)
	if err != nil {
		return err
	}
	defer p.close()
	for _, other := range members {
		if p.ask(ctx, other.PeerURLs) == nil { // this one does not run
			return fmt.Errorf("member %s answers: if a majority can be started, start it. Otherwise stop that one: its data would be of another cluster", describe(other))
		}
	}
	return nil
}

// membersIn reads the members of a cluster from a database.
func membersIn(path string) (all []*membership.Member, err error) {
	db, err := bolt.Open(path, fileutil.PrivateFileMode, &bolt.Options{ReadOnly: true, Timeout: 100 * time.Millisecond})
	if err != nil {
		return nil, err
	}
	defer db.Close()
	return all, db.View(func(tx *bolt.Tx) error {
		b := tx.Bucket([]byte("members"))
		if b == nil {
			return nil
		}
		return b.ForEach(func(_, v []byte) error {
			m := &membership.Member{}
			all = append(all, m)
			return json.Unmarshal(v, m)
		})
	})
}

// make makes the new data in a directory, from a copy of the old: etcd forces a cluster with
// the same identity, whose snapshot is restored as another member.
func (f *Forced) make(ctx context.Context, data, work string, o Options) error {
	if err := os.MkdirAll(work, fileutil.PrivateDirMode); err != nil {
		return err
	}
	copied, file := filepath.Join(work, "copy"), filepath.Join(work, "snapshot.db")
	if err := os.CopyFS(filepath.Join(copied, "member"), os.DirFS(data)); err != nil {
		return err
	}
	if err := commitAll(walDir(copied)); err != nil {
		return err
	}
	forced, err := Start(ctx, copied, Options{
		Name: o.Name, Quota: o.Quota, Waiting: o.Waiting, Log: o.Log,
		Configure: func(c *embed.Config) { c.ForceNewCluster = true },
	})
	if err != nil {
		return err
	}
	err = errors.Join(f.snapshot(ctx, forced, file), forced.Close())
	if err != nil {
		return err
	}
	m := newMember()
	defer m.cancel()
	c, err := m.config(work, o)
	if err != nil {
		return err
	}
	var peers []string
	for _, u := range c.AdvertisePeerUrls {
		peers = append(peers, u.String())
	}
	return snapshot.NewV3(zap.NewNop()).Restore(snapshot.RestoreConfig{
		SnapshotPath: file, OutputDataDir: filepath.Join(work, "new"), Name: c.Name, PeerURLs: peers,
		InitialCluster: c.InitialCluster, InitialClusterToken: c.InitialClusterToken,
		RevisionBump: versionsSkipped, MarkCompacted: true,
	})
}

// commitAll marks all entries of a log as committed. etcd would drop the last ones after a
// crash, because it does not note each commit on the disk. Some of them were confirmed, and of
// the others their writers do not know whether they were made.
func commitAll(dir string) error {
	log := zap.NewNop()
	known, err := wal.ValidSnapshotEntries(log, dir)
	if err != nil {
		return err
	}
	from := &walpb.Snapshot{}
	if len(known) > 0 {
		last := known[len(known)-1]
		from.Index, from.Term = last.Index, last.Term
	}
	w, err := wal.Open(log, dir, from)
	if err != nil {
		return err
	}
	_, state, entries, err := w.ReadAll()
	if errors.Is(err, io.ErrUnexpectedEOF) && wal.Repair(log, dir) { // the end is torn
		w.Close()
		if w, err = wal.Open(log, dir, from); err == nil {
			_, state, entries, err = w.ReadAll()
		}
	}
	if err == nil && len(entries) > 0 {
		state.Commit = entries[len(entries)-1].Index
		err = w.Save(state, nil)
	}
	if w == nil {
		return err
	}
	return errors.Join(err, w.Close())
}

// snapshot writes the state of a member to a file.
func (f *Forced) snapshot(ctx context.Context, m *Member, file string) error {
	now, err := m.client.Get(ctx, "\x00")
	if err != nil {
		return err
	}
	f.Revision = now.Header.Revision
	f.FirstRevision = f.Revision + versionsSkipped
	from, err := m.client.Snapshot(ctx)
	if err != nil {
		return err
	}
	defer from.Close()
	to, err := os.OpenFile(file, os.O_CREATE|os.O_WRONLY|os.O_EXCL, fileutil.PrivateFileMode)
	if err != nil {
		return err
	}
	_, err = io.Copy(to, from)
	return errors.Join(err, to.Close())
}
