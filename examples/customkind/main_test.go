package main

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/store"
)

// newServer returns a function that sends requests to a new API.
func newServer(t *testing.T) (send func(method, path, contentType, body string) (int, string)) {
	st := store.New(store.Options{})
	t.Cleanup(st.Close)
	api := newAPI(st)
	t.Cleanup(api.Close)
	return func(method, path, contentType, body string) (int, string) {
		req, err := http.NewRequest(method, "http://api/apis/sync.example.com/v1"+path, strings.NewReader(body))
		require.NoError(t, err)
		req.Header.Set("Content-Type", contentType)
		resp, err := api.Transport().RoundTrip(req)
		require.NoError(t, err)
		defer resp.Body.Close()
		data, err := io.ReadAll(resp.Body)
		require.NoError(t, err)
		return resp.StatusCode, string(data)
	}
}

func TestABarrierIsServedLikeAnyOtherKind(t *testing.T) {
	send := newServer(t)
	const collection = "/namespaces/default/barriers"
	code, body := send("POST", collection, "application/json", `{"apiVersion":"sync.example.com/v1","kind":"Barrier","metadata":{"name":"b"}}`)
	require.Equal(t, http.StatusCreated, code, body)
	require.Contains(t, body, `"spec":{"parties":2}`, "the default is filled in")

	for _, party := range []string{"x", "y"} {
		code, body = send("PATCH", collection+"/b/status", "application/strategic-merge-patch+json", `{"spec":{"parties":9},"status":{"arrived":["`+party+`"]}}`)
		require.Equal(t, http.StatusOK, code, body)
	}
	require.Contains(t, body, `"spec":{"parties":2},"status":{"arrived":["y","x"]}`, "the status alone is written")
	require.Contains(t, body, `"generation":1,`)

	code, body = send("PATCH", collection+"/b", "application/merge-patch+json", `{"spec":{"parties":3}}`)
	require.Equal(t, http.StatusUnprocessableEntity, code, body)
	require.Contains(t, body, `spec.parties: Invalid value: 3: field is immutable`)

	code, body = send("GET", "", "", "")
	require.Equal(t, http.StatusOK, code, body)
	require.Contains(t, body, `"name":"barriers"`)
	require.Contains(t, body, `"shortNames":["bar"]`)
}

func TestAHallMayHaveAnyForm(t *testing.T) {
	send := newServer(t)
	const hall = `{"apiVersion":"sync.example.com/v1","kind":"Hall","metadata":{"name":"h"},"doors":[{"open":true}]}`
	code, body := send("POST", "/halls", "application/json", hall)
	require.Equal(t, http.StatusCreated, code, body)
	require.Contains(t, body, `"doors":[{"open":true}]`)
	code, body = send("PATCH", "/halls/h", "application/merge-patch+json", `{"seats":{"taken":3}}`)
	require.Equal(t, http.StatusOK, code, body)
	require.Contains(t, body, `"seats":{"taken":3}`)
	code, _ = send("GET", "/namespaces/default/halls/h", "", "")
	require.Equal(t, http.StatusNotFound, code, "it lies in no namespace")
}
