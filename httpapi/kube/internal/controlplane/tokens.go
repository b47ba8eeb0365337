package controlplane

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/kubecoord/kubecoord/httpapi"
)

// ReadTokens reads a file of static tokens, --token-auth-file: token, user, uid, and optionally groups in quotes (Kubernetes
// documentation, "Static token file").
func ReadTokens(name string) (map[string]httpapi.User, error) {
	file, err := os.Open(filepath.Clean(name))
	if err != nil {
		return nil, err
	}
	defer file.Close()
	tokens := map[string]httpapi.User{}
	records := csv.NewReader(file)
	records.FieldsPerRecord = -1
	for {
		record, err := records.Read()
		switch {
		case errors.Is(err, io.EOF):
			return tokens, nil
		case err != nil:
			return nil, err
		case len(record) < 3:
			return nil, fmt.Errorf("%s: token file: want at least 3 columns: token, user, uid", name)
		}
		user := httpapi.User{Name: record[1], UID: record[2]}
		if len(record) > 3 && record[3] != "" {
			for group := range strings.SplitSeq(record[3], ",") {
				user.Groups = append(user.Groups, strings.TrimSpace(group))
			}
		}
		tokens[record[0]] = user
	}
}
