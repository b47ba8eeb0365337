package differential

import (
	"encoding/json"
	"fmt"
	"reflect"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubecoord/kubecoord/internal/codec"
	"github.com/kubecoord/kubecoord/lease"
	"github.com/kubecoord/kubecoord/store/meta"
)

func TestTimesAreDecodedAsUpstream(t *testing.T) {
	eachCase(t, 20000, func(g generator) string {
		text := g.timeText()
		var micro meta.MicroTime
		var wantMicro metav1.MicroTime
		if wrong := sameTime(text, &micro, &wantMicro, &micro.Time, &wantMicro.Time); wrong != "" {
			return wrong
		}
		var seconds meta.Time
		var wantSeconds metav1.Time
		return sameTime(text, &seconds, &wantSeconds, &seconds.Time, &wantSeconds.Time)
	})
}

// sameTime decodes a text into both types and compares the errors, the times, and their encodings.
func sameTime(text string, got json.Unmarshaler, want json.Unmarshaler, gotTime, wantTime *time.Time) string {
	name := fmt.Sprintf("%T of %s", want, text)
	err, wantErr := json.Unmarshal([]byte(text), got), json.Unmarshal([]byte(text), want)
	if wrong := differs("error: "+name, err, wantErr); wrong != "" || err != nil {
		return wrong
	}
	if !gotTime.Equal(*wantTime) {
		return differs(name, gotTime, wantTime)
	}
	out, err := json.Marshal(got)
	wantOut, wantErr := json.Marshal(want)
	return differs("written: "+name, fmt.Sprint(string(out), err), fmt.Sprint(string(wantOut), wantErr))
}

func (g generator) timeText() string {
	text := g.instant().In(time.FixedZone("", g.IntN(24*60)*60-12*3600)).Format(pick(g,
		`"2006-01-02T15:04:05.000000Z07:00"`, `"2006-01-02T15:04:05.000000Z07:00"`, `"2006-01-02T15:04:05Z07:00"`, `"2006-01-02T15:04:05.999999999Z07:00"`,
		`"2006-01-02T15:04:05.000Z"`, `"2006-01-02 15:04:05"`, `"2006-01-02"`, `null`, `""`, `1`, `"x"`))
	if g.percent(40) {
		text = g.mutate(text, `0123456789TZ+-:., "`)
	}
	return text
}

// instant returns a random time, sometimes in the far past or future.
func (g generator) instant() time.Time {
	if g.percent(10) {
		return pick(g, time.Time{}, time.Unix(0, 0), time.Unix(0, 1), time.Unix(-1, 999_999_999), time.Date(9999, 12, 31, 23, 59, 59, 999_999_999, time.UTC), time.Date(1, 1, 1, 0, 0, 0, 1, time.UTC))
	}
	return time.Unix(g.Int64N(8e9)-4e9, g.Int64N(1e9))
}

func TestTimesHaveUpstreamsProtobuf(t *testing.T) {
	typ := codec.MustCompile(reflect.TypeFor[lease.Lease](), "v1")
	eachCase(t, 5000, func(g generator) string {
		at, created := g.instant(), g.instant()
		ours := &lease.Lease{Spec: lease.LeaseSpec{RenewTime: &meta.MicroTime{Time: at}}}
		ours.CreationTimestamp, ours.DeletionTimestamp = meta.Time{Time: created}, &meta.Time{Time: at}
		theirs := &coordinationv1.Lease{Spec: coordinationv1.LeaseSpec{RenewTime: &metav1.MicroTime{Time: at}}}
		theirs.CreationTimestamp, theirs.DeletionTimestamp = metav1.Time{Time: created}, &metav1.Time{Time: at}
		want, err := theirs.Marshal()
		if err != nil {
			return err.Error()
		}
		got := typ.AppendProto(nil, ours)
		if wrong := differs(fmt.Sprintf("protobuf of %v and %v", at, created), fmt.Sprintf("%x", got), fmt.Sprintf("%x", want)); wrong != "" {
			return wrong
		}
		var back lease.Lease
		var wantBack coordinationv1.Lease
		if err := typ.DecodeProto(want, &back); err != nil {
			return err.Error()
		}
		if err := wantBack.Unmarshal(want); err != nil {
			return err.Error()
		}
		if !back.Spec.RenewTime.Time.Equal(wantBack.Spec.RenewTime.Time) || !back.CreationTimestamp.Time.Equal(wantBack.CreationTimestamp.Time) {
			return differs("read back", back, wantBack)
		}
		return ""
	})
}
