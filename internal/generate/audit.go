package generate

import "embed"

// auditFiles make API servers send the audit log that `audit serve` reads.
//
//go:embed audit
var auditFiles embed.FS

// addAudit adds the files for API servers, which do not depend on the configuration.
func addAudit(files map[string][]byte) error {
	entries, err := auditFiles.ReadDir("audit")
	if err != nil {
		return err
	}
	for _, entry := range entries {
		path := "audit/" + entry.Name()
		if files[path], err = auditFiles.ReadFile(path); err != nil {
			return err
		}
	}
	return nil
}
