package chaos

// Rows are the rows of docs/dev/chaos.md, in order.
var Rows = []Row{
	{
		Test:      "TestAPIServerKilled",
		Fault:     "The API server is killed and restarted",
		Reports:   "`watch_connected 0`, `sync_lag_seconds > 1`, `sync_errors_total{error_type=refused} grows`, `state{state=unreachable} 1`. An unreachable server does not change permissions or readiness: `kind_up 1`, `readyz 200`",
		Meanwhile: "`watch_connected 0`, `sync_lag_seconds > 1`, `state{state=synced} absent`, `audits_total{result=consistent} stays`, `freshness_checks_total{result=fresh} stays`",
		Recovery:  "with client-go's next attempt, within a minute, or the one after that: a restarted API server may not know the version to resume from, and the relist has its own backoff",
	},
	{
		Test:      "TestEtcdKilled",
		Fault:     "etcd is killed and restarted",
		Reports:   "Writes fail, but the API server still serves its watch cache: watches stay open, and audits correctly find no difference. Leases cannot be renewed: `lease_expired{lease=lock} 1`. The first list of a resource hangs, without an error: `synced{informer_type=services} 0`, `watch_connected{informer_type=services} 0`. `readyz 200`",
		Meanwhile: "`synced{informer_type=services} 0`, `state{informer_type=services,state=synced} absent`, `lease_expired{lease=lock} 1`, `lease_renewed_timestamp_seconds{lease=lock} stays`, `audit_differences 0`",
		Recovery:  "when the API server has reconnected to etcd",
	},
	{
		Test:      "TestServingCertificateExpired",
		Fault:     "The API server's certificate has expired",
		Reports:   "`watch_connected 0`, `sync_lag_seconds > 1`, `sync_errors_total{error_type=other} grows`, `state{state=unreachable} 1`, `kind_up 1`, `readyz 200`",
		Meanwhile: "`watch_connected 0`, `sync_lag_seconds > 1`, `state{state=synced} absent`, `audits_total{result=consistent} stays`, `freshness_checks_total{result=fresh} stays`",
		Recovery:  "with the next attempt after the server has a new certificate of the same authority",
	},
	{
		Test:      "TestAuthorityReplaced",
		Long:      true,
		Fault:     "The API server's certificate is signed by another certificate authority",
		Reports:   "the same: `watch_connected 0`, `sync_lag_seconds > 1`, `sync_errors_total{error_type=other} grows`, `state{state=unreachable} 1`, `kind_up 1`, `readyz 200`",
		Meanwhile: "`watch_connected 0`, `sync_lag_seconds > 1`, `state{state=synced} absent`, `audits_total{result=consistent} stays`, `freshness_checks_total{result=fresh} stays`",
		Recovery:  "when the CA file contains the new authority: client-go reads the file every five minutes. CA data in the kubeconfig itself is never read again",
	},
	{
		Test:      "TestClientCertificateExpired",
		Fault:     "The client certificate is no longer accepted",
		Reports:   "New requests fail first: `kind_up 0`, `state{state=unauthorized} 1`, `audits_total{result=error} grows`, `freshness_checks_total{result=error} grows`, while open watches continue. When they end: `watch_connected 0`, `sync_lag_seconds > 1`, `sync_errors_total{error_type=unauthorized} grows`. `readyz 200`",
		Meanwhile: "`kind_up 0`, `state{state=synced} absent`, `audits_total{result=consistent} stays`, `freshness_checks_total{result=fresh} stays`, and then `watch_connected 0`, `sync_lag_seconds > 1`",
		Recovery:  "with the next attempt after the files contain a valid certificate: client-go reads them when it connects, and the API server closes connections that it cannot authenticate",
	},
	{
		Test:      "TestTokenExpired",
		Fault:     "The bearer token in a file is no longer accepted",
		Reports:   "the same: `kind_up 0`, `state{state=unauthorized} 1`, `audits_total{result=error} grows`, `freshness_checks_total{result=error} grows`, `readyz 200`",
		Meanwhile: "`kind_up 0`, `state{state=synced} absent`, `audits_total{result=consistent} stays`, `freshness_checks_total{result=fresh} stays`",
		Recovery:  "when the file contains a valid token: client-go reads the file at most once a minute, even after a 401. A token in the kubeconfig itself is never read again",
	},
	{
		Test:      "TestKindForbidden",
		Fault:     "A resource that the configuration names is forbidden",
		Reports:   "`kind_up{informer_type=configmaps} 0`, `state{informer_type=configmaps,state=forbidden} 1`, `audits_total{informer_type=configmaps,result=error} grows`, while an open watch continues. When it ends: `watch_connected{informer_type=configmaps} 0`, `sync_lag_seconds{informer_type=configmaps} > 1`, `sync_errors_total{informer_type=configmaps,error_type=forbidden} grows`. The others: `kind_up{informer_type=pods} 1`, `watch_connected{informer_type=pods} 1`, `audits_total{informer_type=pods,result=consistent} grows`, `readyz 200`",
		Meanwhile: "`kind_up{informer_type=configmaps} 0`, `watch_connected{informer_type=configmaps} 0`, `audits_total{informer_type=configmaps,result=consistent} stays`, `freshness_checks_total{informer_type=configmaps,result=fresh} stays`, `state{informer_type=pods,state=synced} 1`",
		Recovery:  "with the next attempt after it is allowed, or with the next check if the watch is still open",
	},
	{
		Test:      "TestFoundKindForbidden",
		Fault:     "A resource that a pattern matched is forbidden",
		Reports:   "first as above: `kind_up{informer_type=configmaps} 0`, `state{informer_type=configmaps,state=forbidden} 1`. With the next discovery it is skipped: `kinds{state=forbidden} 1`, `kinds{state=watched} 1`, `kind_up{informer_type=configmaps} absent`, `objects{informer_type=configmaps} absent`, `state{informer_type=configmaps} absent`. The others: `kind_up{informer_type=pods} 1`, `readyz 200`",
		Meanwhile: "`kinds{state=forbidden} 1`, `state{informer_type=configmaps} absent`, `kind_up{informer_type=pods} 1`",
		Recovery:  "with the next discovery after it is allowed: within six minutes, on any change to a CustomResourceDefinition, and on SIGHUP: `kinds{state=forbidden} 0`, `state{informer_type=configmaps,state=synced} 1`",
	},
	{
		Test:      "TestCRDDeleted",
		Fault:     "CustomResourceDefinitions are deleted, and created again with another version",
		Reports:   "One that the configuration names is missing: `kind_up{informer_type=widgets.named.chaos.test} 0`, `state{informer_type=widgets.named.chaos.test,state=missing} 1`, `watch_connected{informer_type=widgets.named.chaos.test} 0`, `objects{informer_type=widgets.named.chaos.test} 0`. One that a pattern matched is no longer reported: `kind_up{informer_type=widgets.found.chaos.test} absent`, `objects{informer_type=widgets.found.chaos.test} absent`. `readyz 200`",
		Meanwhile: "`kind_up{informer_type=widgets.named.chaos.test} 0`, `state{informer_type=widgets.named.chaos.test,state=synced} absent`, `state{informer_type=widgets.found.chaos.test} absent`, `audits_total{informer_type=widgets.named.chaos.test,result=consistent} stays`, `audit_differences 0`",
		Recovery:  "in seconds if CustomResourceDefinitions are watched, otherwise with the next discovery: `objects{informer_type=widgets.named.chaos.test} 1`, `objects{informer_type=widgets.found.chaos.test} 1`",
	},
	{
		Test:      "TestLeaseHolderClockSkewed",
		Fault:     "The clocks of Lease holders are skewed by an hour",
		Reports:   "The exporter uses its own clock. A Lease that is renewed is held: `lease_renewed_timestamp_seconds grows`, `lease_expired 0`. A Lease that is not renewed expires, although its renewTime is an hour ahead: `lease_expired{lease=ahead} 1`",
		Meanwhile: "`lease_expired 0` while they are renewed; `lease_expired{lease=ahead} 1`, `lease_renewed_timestamp_seconds{lease=ahead} stays` after the last renewal and the Lease's duration",
		Recovery:  "with the next renewal: `lease_expired 0`, `lease_renewed_timestamp_seconds grows`",
	},
	{
		Test:      "TestConfigurationBroken",
		Fault:     "The configuration file is broken: syntax, a dangling symlink, an unknown field, unreadable, removed",
		Reports:   "`config_last_reload_successful 0`, `config_last_reload_success_timestamp_seconds stays`, and one log line for each. Watches continue",
		Meanwhile: "`config_last_reload_successful 0`, `config_last_reload_success_timestamp_seconds stays`, `kind_up 1`, `watch_connected 1`, `readyz 200`, `audits_total{result=different} 0`",
		Recovery:  "seconds after the file is valid again, with the same or another content: `config_last_reload_successful 1`, `config_last_reload_success_timestamp_seconds grows`",
	},
}
