package httpapi_test

import (
	"io"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Watches share frames, but each gets the bytes that it would get alone.
func TestWatchesInManyFormsGetTheirOwnFrames(t *testing.T) {
	alpha := strings.Replace(candidates, "v1beta1", "v1alpha2", 1)
	partial := ";as=PartialObjectMetadata;g=meta.k8s.io;v="
	var forms [][2]string
	for _, accept := range []string{
		typeJSON, typeProtobuf, typeJSON + partial + "v1", typeJSON + partial + "v1beta1", typeProtobuf + partial + "v1",
		typeJSON + ";as=Table;g=meta.k8s.io;v=v1", typeProtobuf + ";as=Table;g=meta.k8s.io;v=v1",
	} {
		for _, target := range []string{candidates, alpha, candidates + "?labelSelector=a%3Db", candidates + "?allowWatchBookmarks=true"} {
			forms = append(forms, [2]string{target, accept})
		}
	}
	// events returns what watches get until they are closed.
	events := func(forms ...[2]string) (got []string) {
		synctest.Test(t, func(t *testing.T) {
			s := seededServer(t)
			var bodies []io.ReadCloser
			for _, f := range forms {
				target := strings.Replace(f[0]+"&watch=true", "candidates&", "candidates?", 1)
				resp, err := s.api.Transport().RoundTrip(newRequest(t, "GET", target, "", "Accept", f[1]))
				require.NoError(t, err)
				bodies = append(bodies, resp.Body)
			}
			write := func(method, target, body string) {
				contentType := typeJSON
				if method == "PATCH" {
					contentType = "application/merge-patch+json"
				}
				s.must(t, method, target, body, "Content-Type", contentType)
			}
			synctest.Wait()
			write("POST", candidates, `{"metadata":{"name":"c","labels":{"a":"b"}},"spec":{"leaseName":"l","binaryVersion":"1.2.3","emulationVersion":"1.2.3","strategy":"OldestEmulationVersion"}}`)
			synctest.Wait()
			write("PATCH", candidates+"/c", `{"spec":{"binaryVersion":"1.2.4"}}`)
			write("PATCH", candidates+"/c", `{"metadata":{"labels":{"a":"c"}}}`) // two at once
			synctest.Wait()
			write("PATCH", candidates+"/c", `{"metadata":{"labels":{"a":"b"}}}`)
			write("DELETE", candidates+"/c", "")
			synctest.Wait()
			s.api.Close() // the streams end
			for _, body := range bodies {
				text, err := io.ReadAll(body)
				require.NoError(t, err)
				got = append(got, string(text))
			}
		})
		return got
	}
	together := events(append(forms, forms...)...)
	for i, f := range forms {
		alone := events(f)[0]
		require.NotEmpty(t, alone, f)
		assert.Equal(t, alone, together[i], "%s", f)
		assert.Equal(t, alone, together[i+len(forms)], "%s", f)
	}
}
