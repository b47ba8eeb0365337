package printers_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"

	"github.com/kubecoord/kubecoord/httpapi/kube/scheme/internal/printers"
)

// recording is a file that program gen writes.
type recording struct {
	Now  time.Time
	Rows []struct {
		Object     map[string]any
		Cells      []any
		Conditions []metav1.TableRowCondition
	}
}

// The rows of all recorded objects are the ones that a real server printed.
func TestRowsAreThoseOfARealServer(t *testing.T) {
	files, err := filepath.Glob("testdata/rows/*.json")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		data, err := os.ReadFile(file)
		require.NoError(t, err)
		var rec recording
		require.NoError(t, json.Unmarshal(data, &rec))
		for _, row := range rec.Rows {
			u := &unstructured.Unstructured{Object: row.Object}
			name := strings.TrimSuffix(filepath.Base(file), ".json") + "/" + u.GetKind() + "/" + u.GetName()
			t.Run(name, func(t *testing.T) {
				obj, err := clientgoscheme.Scheme.New(u.GroupVersionKind())
				require.NoError(t, err)
				require.NoError(t, runtime.DefaultUnstructuredConverter.FromUnstructured(row.Object, obj))
				got, err := json.Marshal(printers.Cells(obj, rec.Now))
				require.NoError(t, err)
				want, err := json.Marshal(row.Cells)
				require.NoError(t, err)
				assert.Equal(t, string(want), string(got))
				assert.Equal(t, row.Conditions, printers.Conditions(obj))
				assert.LessOrEqual(t, len(printers.Columns(u.GroupVersionKind())), len(row.Cells))
			})
		}
	}
}

// An object without any field has its cells, too.
func TestEmptyObjectsHaveACellForEachColumn(t *testing.T) {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	kinds := 0
	for gvk := range clientgoscheme.Scheme.AllKnownTypes() {
		columns := printers.Columns(gvk)
		if columns == nil || (gvk.Group == "autoscaling" && gvk.Kind != "Scale" && gvk.Version == "v1") { // v2 is printed
			continue
		}
		kinds++
		obj, err := clientgoscheme.Scheme.New(gvk)
		require.NoError(t, err)
		want := len(columns)
		if gvk.Kind == "IPAddress" {
			want++ // an age without a column
		}
		assert.Len(t, printers.Cells(obj, now), want, gvk)
	}
	assert.Greater(t, kinds, 50)
}

func TestObjectsWithoutMetadataHaveNoCells(t *testing.T) {
	assert.Nil(t, printers.Cells(&metav1.Status{}, time.Now()))
	assert.Nil(t, printers.Columns(metav1.Unversioned.WithKind("Status")))
}

func ExampleCells() {
	now := time.Date(2026, 1, 2, 0, 0, 0, 0, time.UTC)
	secret := &corev1.Secret{Type: corev1.SecretTypeOpaque, Data: map[string][]byte{"password": nil}}
	secret.Name, secret.CreationTimestamp = "db", metav1.NewTime(now.Add(-time.Hour))
	cells := printers.Cells(secret, now)
	for i, column := range printers.Columns(corev1.SchemeGroupVersion.WithKind("Secret")) {
		fmt.Println(column.Name, cells[i])
	}
	// Output:
	// Name db
	// Type Opaque
	// Data 1
	// Age 60m
}

// A Job that has ended and is being deleted is printed as ended, one that runs as terminating (upstream: printersinternal, printJob).
func TestADeletedJobThatHasEnded(t *testing.T) {
	job := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{DeletionTimestamp: &metav1.Time{}}}
	assert.Equal(t, "Terminating", printers.Cells(job, time.Now())[1])
	for _, end := range []batchv1.JobConditionType{batchv1.JobComplete, batchv1.JobFailed} {
		job.Status.Conditions = []batchv1.JobCondition{{Type: end, Status: corev1.ConditionTrue}}
		assert.Equal(t, string(end), printers.Cells(job, time.Now())[1])
	}
	job.Status.Conditions = []batchv1.JobCondition{{Type: batchv1.JobSuspended, Status: corev1.ConditionTrue}}
	assert.Equal(t, "Terminating", printers.Cells(job, time.Now())[1])
}
