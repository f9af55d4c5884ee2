package generate

import "sigs.k8s.io/yaml"

func dashboardProvider() ([]byte, error) {
	return marked(yaml.Marshal(object{
		"apiVersion": 1,
		"providers": []object{{
			"name": appName, "folder": "Informers", "type": "file", "allowUiUpdates": false,
			"options": object{"path": "/var/lib/grafana/dashboards/" + appName},
		}},
	}))
}

// dataSources tells Grafana the scrape interval, from which it computes $__rate_interval.
func dataSources(c Config) ([]byte, error) {
	return marked(yaml.Marshal(object{
		"apiVersion": 1,
		"datasources": []object{{
			"name": "Prometheus", "uid": "prometheus", "type": "prometheus", "access": "proxy", "isDefault": true,
			"url":      c.prometheusURL,
			"jsonData": object{"httpMethod": "POST", "prometheusType": "Prometheus", "timeInterval": "15s"},
		}},
	}))
}
