package printers

import (
	_ "embed"
	"strconv"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// recorded has the columns of all kinds as program gen writes them: a line for each kind with the same columns, and then a line
// for each column with its name, type, format, priority and quoted description, after tabs.
//
//go:embed columns.txt
var recorded string

// Columns returns the definitions of the columns of a kind's Tables, or nil for a kind that kube-apiserver does not serve by
// default. The caller may change them.
func Columns(gvk schema.GroupVersionKind) (columns []metav1.TableColumnDefinition) {
	_, after, _ := strings.Cut(recorded, "\n"+gvk.Group+"/"+gvk.Version+"/"+gvk.Kind+"\n")
	for line := range strings.Lines(after) {
		f := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		if len(f) == 1 && columns == nil {
			continue // another kind with these columns
		} else if len(f) == 1 {
			break
		}
		priority, _ := strconv.ParseInt(f[4], 10, 32)
		description, _ := strconv.Unquote(f[5])
		columns = append(columns, metav1.TableColumnDefinition{
			Name: f[1], Type: f[2], Format: f[3], Priority: int32(priority), Description: description,
		})
	}
	return columns
}
