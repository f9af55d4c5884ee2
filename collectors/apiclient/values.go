package apiclient

const (
	// codeError is the value of the label code for a request without a response.
	codeError = "error"
)

const (
	// subresourceOther is the value of the label subresource for all subresources except those of Kubernetes' own APIs.
	subresourceOther = "other"
)
