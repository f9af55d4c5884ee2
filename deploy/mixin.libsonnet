// The rules and dashboards of this folder as a monitoring mixin (https://monitoring.mixins.dev):
//   jb install github.com/informer-exporter/informer-exporter/deploy
//   (import 'github.com/informer-exporter/informer-exporter/deploy/mixin.libsonnet')
// For other thresholds, labels or selectors, write the folder with `informer-exporter generate`: there is no _config.
local rules = std.parseYaml(importstr 'prometheus/rules.yaml').groups;
local only(kind) = std.filter(
  function(group) std.length(group.rules) > 0,
  [group { rules: [rule for rule in group.rules if std.objectHas(rule, kind)] } for group in rules],
);
{
  prometheusAlerts+:: { groups+: only('alert') },
  prometheusRules+:: { groups+: only('record') },
  grafanaDashboardFolder:: 'Informers',
  grafanaDashboards+:: {
    'informers-api-client.json': import 'grafana/dashboards/informers-api-client.json',
    'informers-clients.json': import 'grafana/dashboards/informers-clients.json',
    'informers-controllers.json': import 'grafana/dashboards/informers-controllers.json',
    'informers-detail.json': import 'grafana/dashboards/informers-detail.json',
    'informers-exporter.json': import 'grafana/dashboards/informers-exporter.json',
    'informers-fleet.json': import 'grafana/dashboards/informers-fleet.json',
    'informers-leader-election.json': import 'grafana/dashboards/informers-leader-election.json',
    'informers-objects.json': import 'grafana/dashboards/informers-objects.json',
    'informers-overview.json': import 'grafana/dashboards/informers-overview.json',
  },
}
