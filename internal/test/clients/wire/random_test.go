package wire

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// random makes valid but unusual objects.
type random struct{ *rand.Rand }

func newRandom(t *testing.T) random {
	seed := rand.Uint64()
	if s := os.Getenv("WIRE_SEED"); s != "" {
		var err error
		seed, err = strconv.ParseUint(s, 10, 64)
		require.NoError(t, err)
	}
	t.Logf("WIRE_SEED=%d", seed)
	return random{rand.New(rand.NewPCG(seed, 0))}
}

// count returns the number of objects of a kind that a test uses.
func count(t *testing.T) int {
	n, err := strconv.Atoi(os.Getenv("WIRE_OBJECTS"))
	if err != nil {
		n = 500
	}
	if testing.Short() {
		n = 50
	}
	return n
}

// odds returns true once in n calls on average.
func (r random) odds(n int) bool { return r.IntN(n) == 0 }

func pick[T any](r random, from ...T) T { return from[r.IntN(len(from))] }

// maybe returns a pointer to the value, or nil.
func maybe[T any](r random, value func() T) *T {
	if r.odds(2) {
		return nil
	}
	return new(value())
}

const (
	lower = "abcdefghijklmnopqrstuvwxyz"
	alnum = lower + "0123456789"
)

func (r random) letters(from string, n int) string {
	var b strings.Builder
	for range n {
		b.WriteByte(from[r.IntN(len(from))])
	}
	return b.String()
}

// word returns a DNS label.
func (r random) word() string { return r.letters(lower, 1) + r.letters(alnum, r.IntN(12)) }

// text returns a random string.
func (r random) text() string {
	var b strings.Builder
	for range r.IntN(12) {
		b.WriteString(pick(r, "a", "Z", " ", "é", "日", "😀", `"`, `\`, "/", "<", ">", "&", "\n", "\r", "\t", "\b", "\f",
			"\x00", "\x01", "\x1f", "\x7f", "\u0080", "\u2028", "\u2029", "\ufeff", "\ufffd", "\U0010ffff", "{}", "null"))
	}
	return b.String()
}

// qualified returns a name with or without a prefix.
func (r random) qualified() string {
	name := r.letters(alnum, 1) + r.letters(alnum+"._-", r.IntN(10)) + r.letters(alnum, 1)
	if r.odds(2) {
		return r.word() + ".io/" + name
	}
	return name
}

func (r random) list(most int, item func()) {
	for range r.IntN(most + 1) {
		item()
	}
}

// microTime returns a time that JSON can represent: between the years 0 and
// 9999.
func (r random) microTime() metav1.MicroTime {
	if r.odds(20) {
		return metav1.MicroTime{}
	}
	first, last := time.Date(0, 1, 1, 0, 0, 0, 0, time.UTC).Unix(), time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC).Unix()
	seconds := pick(r, first, last, 0, -1, 1_700_000_000, first+r.Int64N(last-first))
	micros := pick(r, 0, 1, 999_999, 500_000, r.Int64N(1_000_000))
	return metav1.MicroTime{Time: time.Unix(seconds, micros*1000).UTC()}
}

// metadata returns random metadata that a client may set. Names contain the
// number, so that they sort in its order.
func (r random) metadata(number int) metav1.ObjectMeta {
	m := metav1.ObjectMeta{Namespace: namespace, Name: fmt.Sprintf("o%06d", number)}
	if r.odds(4) {
		m.GenerateName = r.word() + "-"
	}
	r.list(3, func() {
		if m.Labels == nil {
			m.Labels = map[string]string{}
		}
		m.Labels[r.qualified()] = pick(r, "", r.word(), "A_b.c-D")
	})
	r.list(4, func() {
		if m.Annotations == nil {
			m.Annotations = map[string]string{}
		}
		m.Annotations[r.qualified()] = r.text()
	})
	r.list(2, func() { m.Finalizers = append(m.Finalizers, r.word()+".io/"+r.word()) })
	r.list(2, func() {
		owner := metav1.OwnerReference{
			APIVersion: pick(r, "v1", "apps/v1"), Kind: pick(r, "Node", "Deployment"), Name: r.word(),
			UID:                types.UID(fmt.Sprintf("uid-%d-%d", number, len(m.OwnerReferences))),
			BlockOwnerDeletion: maybe(r, func() bool { return r.odds(2) }),
		}
		if len(m.OwnerReferences) == 0 {
			owner.Controller = maybe(r, func() bool { return r.odds(2) })
		} else {
			owner.Controller = pick(r, nil, new(false))
		}
		m.OwnerReferences = append(m.OwnerReferences, owner)
	})
	return m
}
