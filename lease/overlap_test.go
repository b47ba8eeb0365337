package lease

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/kubecoord/kubecoord/store/meta"
)

func TestAuditFindsTwoHoldersAtOnce(t *testing.T) {
	start := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	type state struct {
		at      int // seconds after the start
		holder  string
		seconds int32 // 0 is a deletion
	}
	for name, row := range map[string]struct {
		states []state
		want   []string
	}{
		"one holder": {[]state{{0, "a", 15}, {2, "a", 15}, {30, "a", 15}}, nil},
		"taken after it expired": {
			[]state{{0, "a", 15}, {2, "a", 15}, {17, "b", 15}}, nil},
		"taken too early": {
			[]state{{0, "a", 15}, {2, "a", 15}, {16, "b", 15}},
			[]string{`"b" took the Lease at 2026-01-02T03:04:21Z, 1s before the Lease of "a" ran out`}},
		"taken back and forth": {
			[]state{{0, "a", 15}, {1, "b", 15}, {2, "a", 15}},
			[]string{
				`"b" took the Lease at 2026-01-02T03:04:06Z, 14s before the Lease of "a" ran out`,
				`"a" took the Lease at 2026-01-02T03:04:07Z, 14s before the Lease of "b" ran out`}},
		"released": {
			[]state{{0, "a", 15}, {1, "", 1}, {1, "b", 15}}, nil},
		"deleted, and taken at once": {
			[]state{{0, "a", 15}, {1, "", 0}, {2, "b", 15}},
			[]string{`"b" took the Lease at 2026-01-02T03:04:07Z, 13s before the Lease of "a" ran out`}},
		"deleted, and taken later": {
			[]state{{0, "a", 15}, {1, "", 0}, {15, "b", 15}}, nil},
		"deleted, and created again by the same holder": {
			[]state{{0, "a", 15}, {1, "", 0}, {2, "a", 15}, {3, "a", 15}}, nil},
		"with another duration": {
			[]state{{0, "a", 5}, {4, "a", 60}, {10, "b", 15}},
			[]string{`"b" took the Lease at 2026-01-02T03:04:15Z, 54s before the Lease of "a" ran out`}},
	} {
		t.Run(name, func(t *testing.T) {
			var a Audit
			var got []string
			for _, s := range row.states {
				at := start.Add(time.Duration(s.at) * time.Second)
				l := &Lease{Spec: LeaseSpec{
					HolderIdentity: &s.holder, LeaseDurationSeconds: &s.seconds, RenewTime: new(meta.NewMicroTime(at)),
				}}
				if s.seconds == 0 {
					l = nil
				}
				if o, ok := a.See(l, at); ok {
					got = append(got, o.String())
				}
			}
			assert.Equal(t, row.want, got)
		})
	}
}
