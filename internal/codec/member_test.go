package codec

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestAMemberIsCopiedWithoutTheOthers(t *testing.T) {
	typ := compileFor[Everything]("v1")
	filler := newFiller(3)
	for range 50 {
		src, dst := fillNew[Everything](filler), fillNew[Everything](filler)
		before := typ.Copy(dst)
		want := typ.Copy(src)
		for _, f := range typ.Fields {
			typ.CopyMember(dst, src, f.Name)
			assert.True(t, typ.EqualBeside(dst, before, f.Name), "%s: the others stay", f.Name)
			before = typ.Copy(dst)
		}
		for _, f := range typ.Fields {
			assert.True(t, f.equal(typ.check(dst), typ.check(want)), "%s is copied", f.Name)
			typ.CopyMember(src, nil, f.Name)
			assert.True(t, f.equal(typ.check(src), typ.check(new(Everything))), "%s is gone", f.Name)
			assert.True(t, f.equal(typ.check(dst), typ.check(want)), "%s shares no memory", f.Name)
		}
	}
}

func TestEqualBesideComparesAllOtherMembers(t *testing.T) {
	typ := compileFor[Lease]("v1")
	a, b := aLease(), aLease()
	b.Labels = map[string]string{"other": "label"}
	assert.True(t, typ.EqualBeside(a, b, "metadata"))
	assert.False(t, typ.EqualBeside(a, b, "spec"))
}
