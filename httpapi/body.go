package httpapi

import (
	"io"
	"net/http"

	"github.com/kubecoord/kubecoord/store/meta"
)

// maxBody is how many bytes the body of a request may have.
const maxBody = 3 << 20

// readBody reads the body of the request, which is refused as soon as it is
// known to be too long.
func (c *call) readBody() ([]byte, error) {
	if c.req.Body == nil || c.req.Body == http.NoBody {
		return nil, nil
	}
	if n := c.req.ContentLength; n >= 0 && n <= maxBody {
		data := make([]byte, n)
		if _, err := io.ReadFull(c.req.Body, data); err != nil {
			return nil, meta.NewBadRequest("%s", err)
		}
		return data, nil
	}
	data, err := io.ReadAll(io.LimitReader(c.req.Body, maxBody+1))
	if err != nil {
		return nil, meta.NewBadRequest("%s", err)
	}
	if len(data) > maxBody {
		return nil, meta.NewStatusError(http.StatusRequestEntityTooLarge, meta.ReasonRequestEntityTooLarge, nil,
			"Request entity too large: limit is 3145728")
	}
	return data, nil
}
