package apitest_test

import (
	"io"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/httpapi/apitest"
	"github.com/kubecoord/kubecoord/store/meta"
)

const watchLeases = leases + "?watch=true"

func TestTornWatchesEndAfterTheirEvents(t *testing.T) {
	for name, row := range map[string]struct {
		tear apitest.Effect
		want []string // "+" creates another Lease first
	}{
		"cleanly":                        {apitest.EndWatch(3), []string{"ADDED a", "ADDED b", "+c", "ADDED c", "0 bytes, EOF"}},
		"cleanly among initial events":   {apitest.EndWatch(1), []string{"ADDED a", "0 bytes, EOF"}},
		"cleanly at once":                {apitest.EndWatch(0), []string{"0 bytes, EOF"}},
		"with an error":                  {apitest.FailWatch(2, meta.Status{Code: 410}), []string{"ADDED a", "ADDED b", "ERROR 410", "0 bytes, EOF"}},
		"with an error at once":          {apitest.FailWatch(0, meta.Status{Code: 500}), []string{"ERROR 500", "0 bytes, EOF"}},
		"in mid-frame":                   {apitest.CutWatch(2), []string{"ADDED a", "ADDED b", "+c", "half, unexpected EOF"}},
		"in the middle of the first one": {apitest.CutWatch(0), []string{"half, unexpected EOF"}},
	} {
		t.Run(name, func(t *testing.T) {
			eachDoor(t, func(t *testing.T, d *door) {
				d.create(t, "a")
				d.create(t, "b")
				f := d.Fault(row.tear.First(1), apitest.Match{Verb: "watch"})
				w := d.watch(t, watchLeases)
				for _, want := range row.want {
					switch want[0] {
					case '+':
						d.create(t, want[1:])
					case 'h':
						line, err := w.ReadBytes('\n')
						require.Equal(t, io.ErrUnexpectedEOF, err)
						assert.Greater(t, len(line), 10, "a part of an event")
						assert.Equal(t, byte('{'), line[0])
					default:
						require.Equal(t, want, w.next())
					}
				}
				assert.Equal(t, 1, f.Hits())
				assert.Equal(t, "ADDED a", d.watch(t, watchLeases).next(), "the next watch is whole")
			})
		})
	}
}

func TestProtobufWatchesAreTornBetweenTheirFrames(t *testing.T) {
	eachDoor(t, func(t *testing.T, d *door) {
		d.create(t, "a")
		d.create(t, "b")
		const accept = "application/vnd.kubernetes.protobuf;stream=watch"
		whole := d.watch(t, watchLeases+"&timeoutSeconds=1", "Accept", accept)
		first := readFrame(t, whole)
		second := readFrame(t, whole)
		d.Fault(apitest.EndWatch(1).First(1))
		torn, err := io.ReadAll(d.watch(t, watchLeases, "Accept", accept))
		require.NoError(t, err)
		assert.Equal(t, first, torn)
		d.Fault(apitest.CutWatch(1).First(1))
		torn, err = io.ReadAll(d.watch(t, watchLeases, "Accept", accept))
		require.Equal(t, io.ErrUnexpectedEOF, err)
		assert.Equal(t, append(first, second[:len(second)/2]...), torn)
		d.Fault(apitest.FailWatch(0, meta.Status{Code: 410}).First(1))
		torn, err = io.ReadAll(d.watch(t, watchLeases, "Accept", accept))
		require.NoError(t, err)
		assert.Contains(t, string(torn), "\x0a\x05ERROR", "the type of the event")
		assert.Contains(t, string(torn), "k8s\x00")
	})
}

// readFrame reads one frame of a binary watch with its length.
func readFrame(t testing.TB, r io.Reader) []byte {
	head := make([]byte, 4)
	_, err := io.ReadFull(r, head)
	require.NoError(t, err)
	body := make([]byte, int(head[2])<<8|int(head[3]))
	_, err = io.ReadFull(r, body)
	require.NoError(t, err)
	return append(head, body...)
}

func TestSlowEventsAreSentOneByOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDoor(t)
		for _, name := range []string{"a", "b", "c"} {
			d.create(t, name)
		}
		f := d.Fault(apitest.SlowEvents(time.Second), apitest.Match{Verb: "watch"})
		start := time.Now()
		w := d.watch(t, watchLeases)
		assert.Zero(t, time.Since(start), "the header is not held back")
		for i, name := range []string{"a", "b", "c"} {
			assert.Equal(t, "ADDED "+name, w.next())
			assert.Equal(t, time.Duration(i+1)*time.Second, time.Since(start))
		}
		assert.Equal(t, 1, f.Hits())
	})
}
