package apiclient

const (
	// codeError is the value of the label code for a request without a response.
	codeError = "error"
)

// Values of the label subresource of k8s_client_requests_total: those of Kubernetes' own APIs. Others are reported as other.
const (
	subresourceOther = "other"
)
