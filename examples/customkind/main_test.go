package main

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/kubecoord/kubecoord/store"
)

func TestABarrierIsServedLikeAnyOtherKind(t *testing.T) {
	st := store.New(store.Options{})
	defer st.Close()
	api := newAPI(st)
	defer api.Close()
	const collection = "http://api/apis/sync.example.com/v1/namespaces/default/barriers"
	send := func(method, url, contentType, body string) (int, string) {
		req, err := http.NewRequest(method, url, strings.NewReader(body))
		require.NoError(t, err)
		req.Header.Set("Content-Type", contentType)
		resp, err := api.Transport().RoundTrip(req)
		require.NoError(t, err)
		defer resp.Body.Close()
		data, err := io.ReadAll(resp.Body)
		require.NoError(t, err)
		return resp.StatusCode, string(data)
	}

	code, body := send("POST", collection, "application/json", `{"metadata":{"name":"b"}}`)
	require.Equal(t, http.StatusCreated, code, body)
	require.Contains(t, body, `"spec":{"parties":2}`, "the default is filled in")

	code, body = send("PATCH", collection+"/b", "application/strategic-merge-patch+json", `{"spec":{"arrived":["x"]}}`)
	require.Equal(t, http.StatusOK, code, body)
	require.Contains(t, body, `"arrived":["x"]`)

	code, body = send("PATCH", collection+"/b", "application/merge-patch+json", `{"spec":{"parties":3}}`)
	require.Equal(t, http.StatusUnprocessableEntity, code, body)
	require.Contains(t, body, `spec.parties: Invalid value: 3: field is immutable`)

	code, body = send("GET", "http://api/apis/sync.example.com/v1", "", "")
	require.Equal(t, http.StatusOK, code, body)
	require.Contains(t, body, `"name":"barriers"`)
	require.Contains(t, body, `"shortNames":["bar"]`)
}
