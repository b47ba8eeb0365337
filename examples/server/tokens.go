package main

import (
	"encoding/csv"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/kubecoord/kubecoord/httpapi"
)

// readTokens reads a token file in the form of kube-apiserver: comma-separated
// lines of token, user, uid and, optionally, groups in one quoted field. No
// file means no tokens.
func readTokens(file string) (map[string]httpapi.User, error) {
	if file == "" {
		return nil, nil
	}
	f, err := os.Open(file)
	if err != nil {
		return nil, fmt.Errorf("-token-file: %w", err)
	}
	defer f.Close()
	tokens := map[string]httpapi.User{}
	r := csv.NewReader(f)
	r.FieldsPerRecord = -1
	r.Comment = '#'
	for {
		record, err := r.Read()
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("-token-file: %w", err)
		}
		line, _ := r.FieldPos(0)
		if len(record) < 3 || record[0] == "" {
			// The line itself may hold a secret, so it is not shown.
			return nil, fmt.Errorf("-token-file: line %d: want token,user,uid and perhaps groups", line)
		}
		user := httpapi.User{Name: record[1]}
		if len(record) > 3 && record[3] != "" {
			user.Groups = strings.Split(record[3], ",")
		}
		tokens[record[0]] = user
	}
	if len(tokens) == 0 {
		return nil, fmt.Errorf("-token-file: no tokens in it")
	}
	return tokens, nil
}
