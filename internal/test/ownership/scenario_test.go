package ownership

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestScenariosAreReadAsWritten(t *testing.T) {
	scenarios := []Scenario{
		{Kind: "Lease", Writes: []Write{
			{Verb: Update, Manager: `m "1" <`, Version: "v1", Second: 3, Document: `{"a":"b c"}`, Answer: []string{`owner "m" Update v1 - 3 {}`}},
			{Verb: Force, Version: "v1beta1", Subresource: "status", Document: `{}`, Answer: []string{Error(409, "b:\nd\nc")}},
		}},
		{Kind: "Blob", Writes: []Write{{Verb: Apply, Manager: "m", Version: "v1", Document: `{}`}}},
	}
	file := filepath.Join(t.TempDir(), "s.txt")
	require.NoError(t, os.WriteFile(file, []byte(Format(scenarios)), 0o600))
	got, err := Load(file)
	require.NoError(t, err)
	assert.Equal(t, scenarios, got)
	assert.Equal(t, `error 409 "b:\nc\nd"`, got[0].Writes[1].Answer[0], "lines after the first one are sorted")

	require.NoError(t, os.WriteFile(file, []byte("Lease\nupdate m v1\n"), 0o600))
	_, err = Load(file)
	assert.Error(t, err)
}

func TestVersionsOfGadgetHaveTheSameContent(t *testing.T) {
	v1 := GadgetSpec[Point]{Mode: "a,b", Tags: []string{"t", "u"}, Origin: Point{X: 1}, Parts: []GadgetPart{{Name: "p"}}}
	assert.Equal(t, v1, v1.To2().To1())
	assert.Equal(t, GadgetSpec[Point]{}, GadgetSpec[Point]{}.To2().To1())
}
