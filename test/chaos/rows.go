package chaos

// Rows are the rows of docs/dev/chaos.md, in order.
var Rows = []Row{
	{
		Test:      "TestAPIServerKilled",
		Fault:     "The API server is killed and restarted",
		Reports:   "`watch_connected 0`, `sync_lag_seconds > 1`, `sync_errors_total{error_type=refused} grows`, `state{state=unreachable} 1`; still `kind_up 1`",
		Meanwhile: "`watch_connected 0`, `sync_lag_seconds > 1`, `state{state=synced} absent`, `audits_total{result=consistent} stays`, `freshness_checks_total{result=fresh} stays`",
		Recovery:  "within a minute, or after another backoff if the server requires a relist",
	},
	{
		Test:      "TestEtcdKilled",
		Fault:     "etcd is killed and restarted",
		Reports:   "Watches stay open. Leases: `lease_expired{lease=lock} 1`. A first list hangs: `synced{informer_type=services} 0`, `watch_connected{informer_type=services} 0`",
		Meanwhile: "`synced{informer_type=services} 0`, `state{informer_type=services,state=synced} absent`, `lease_expired{lease=lock} 1`, `lease_renewed_timestamp_seconds{lease=lock} stays`, `audit_differences 0`",
		Recovery:  "when the API server has reconnected to etcd",
	},
	{
		Test:      "TestServingCertificateExpired",
		Fault:     "The API server's certificate has expired",
		Reports:   "As for a killed server, but `sync_errors_total{error_type=other} grows`",
		Meanwhile: "`watch_connected 0`, `sync_lag_seconds > 1`, `state{state=synced} absent`, `audits_total{result=consistent} stays`, `freshness_checks_total{result=fresh} stays`",
		Recovery:  "with the next attempt, once the server has a new certificate",
	},
	{
		Test:      "TestAuthorityReplaced",
		Fault:     "The API server's certificate has another authority",
		Reports:   "the same: `sync_errors_total{error_type=other} grows`",
		Meanwhile: "`watch_connected 0`, `sync_lag_seconds > 1`, `state{state=synced} absent`, `audits_total{result=consistent} stays`, `freshness_checks_total{result=fresh} stays`",
		Recovery:  "within five minutes after the CA file has the new authority",
	},
	{
		Test:      "TestClientCertificateExpired",
		Fault:     "The client certificate is no longer accepted",
		Reports:   "First `kind_up 0`, `state{state=unauthorized} 1`, `audits_total{result=error} grows`; when watches end, `watch_connected 0`, `sync_errors_total{error_type=unauthorized} grows`",
		Meanwhile: "`kind_up 0`, `state{state=synced} absent`, `audits_total{result=consistent} stays`, `freshness_checks_total{result=fresh} stays`, and then `watch_connected 0`, `sync_lag_seconds > 1`",
		Recovery:  "with the next attempt, once the files have a valid certificate",
	},
	{
		Test:      "TestTokenExpired",
		Fault:     "The bearer token in a file is no longer accepted",
		Reports:   "the same: `kind_up 0`, `state{state=unauthorized} 1`",
		Meanwhile: "`kind_up 0`, `state{state=synced} absent`, `audits_total{result=consistent} stays`, `freshness_checks_total{result=fresh} stays`",
		Recovery:  "within a minute after the file has a valid token",
	},
	{
		Test:      "TestKindForbidden",
		Fault:     "A resource that the configuration names is forbidden",
		Reports:   "`kind_up{informer_type=configmaps} 0`, `state{informer_type=configmaps,state=forbidden} 1`, then `watch_connected{informer_type=configmaps} 0`",
		Meanwhile: "`kind_up{informer_type=configmaps} 0`, `watch_connected{informer_type=configmaps} 0`, `audits_total{informer_type=configmaps,result=consistent} stays`, `freshness_checks_total{informer_type=configmaps,result=fresh} stays`, `state{informer_type=pods,state=synced} 1`",
		Recovery:  "with the next attempt, or the next check of an open watch",
	},
	{
		Test:      "TestFoundKindForbidden",
		Fault:     "A resource that a pattern matched is forbidden",
		Reports:   "First the same. From the next discovery: `kinds{state=forbidden} 1`, `kind_up{informer_type=configmaps} absent`",
		Meanwhile: "`kinds{state=forbidden} 1`, `state{informer_type=configmaps} absent`, `kind_up{informer_type=pods} 1`",
		Recovery:  "within six minutes, or on SIGHUP: `kinds{state=forbidden} 0`",
	},
	{
		Test:      "TestCRDDeleted",
		Fault:     "CustomResourceDefinitions are deleted, and created with another version",
		Reports:   "Named in the configuration: `kind_up{informer_type=widgets.named.chaos.test} 0`, `state{informer_type=widgets.named.chaos.test,state=missing} 1`. Matched by a pattern: `kind_up{informer_type=widgets.found.chaos.test} absent`",
		Meanwhile: "`kind_up{informer_type=widgets.named.chaos.test} 0`, `state{informer_type=widgets.named.chaos.test,state=synced} absent`, `state{informer_type=widgets.found.chaos.test} absent`, `audits_total{informer_type=widgets.named.chaos.test,result=consistent} stays`, `audit_differences 0`",
		Recovery:  "in seconds, or with the next discovery if CustomResourceDefinitions are not watched",
	},
	{
		Test:      "TestLeaseHolderClockSkewed",
		Fault:     "The clocks of Lease holders are skewed by an hour",
		Reports:   "The exporter's own clock counts: `lease_expired 0` while a Lease is renewed, `lease_expired{lease=ahead} 1` afterwards",
		Meanwhile: "`lease_expired 0` while they are renewed; `lease_expired{lease=ahead} 1`, `lease_renewed_timestamp_seconds{lease=ahead} stays` after the last renewal and the Lease's duration",
		Recovery:  "with the next renewal: `lease_expired 0`",
	},
	{
		Test:      "TestConfigurationBroken",
		Fault:     "The configuration file is invalid or unreadable",
		Reports:   "`config_last_reload_successful 0`, and one log line. Watches continue",
		Meanwhile: "`config_last_reload_successful 0`, `config_last_reload_success_timestamp_seconds stays`, `kind_up 1`, `watch_connected 1`, `readyz 200`, `audits_total{result=different} 0`",
		Recovery:  "seconds after the file is valid: `config_last_reload_successful 1`",
	},
}
