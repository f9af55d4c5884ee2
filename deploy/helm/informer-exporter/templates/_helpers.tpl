{{- define "informer-exporter.name" -}}
{{- .Values.nameOverride | default .Chart.Name | trunc 63 | trimSuffix "-" }}
{{- end }}

{{- define "informer-exporter.fullname" -}}
{{- $name := include "informer-exporter.name" . }}
{{- $full := ternary .Release.Name (printf "%s-%s" .Release.Name $name) (contains $name .Release.Name) }}
{{- .Values.fullnameOverride | default $full | trunc 45 | trimSuffix "-" }}
{{- end }}

{{- define "informer-exporter.serviceAccount" -}}
{{- .Values.serviceAccount.name | default (ternary (include "informer-exporter.fullname" .) "default" .Values.serviceAccount.create) }}
{{- end }}

{{- /* Selectors are immutable: a change here breaks upgrades. */ -}}
{{- define "informer-exporter.selector" -}}
app.kubernetes.io/name: {{ include "informer-exporter.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/component: exporter
{{- end }}

{{- define "informer-exporter.ownLabels" -}}
{{ include "informer-exporter.selector" . }}
app.kubernetes.io/part-of: informer-exporter
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
{{- end }}

{{- define "informer-exporter.ownAnnotations" -}}
kubectl.kubernetes.io/default-container: exporter
{{- with .Values.config.detail }}
# Takes effect at the next start, unlike the rest of the configuration.
informer-exporter.io/detail: {{ . }}
{{- end }}
{{- with .Values.config.histograms }}
# Takes effect at the next start, unlike the rest of the configuration.
informer-exporter.io/histograms: {{ . }}
{{- end }}
{{- end }}

{{- /* A label twice in a map is invalid, and one that differs from the selector's is rejected by the API server. */ -}}
{{- define "informer-exporter.refuseOwnLabels" -}}
{{- $own := include "informer-exporter.ownLabels" . | fromYaml }}
{{- range $value := list "commonLabels" "podLabels" }}
{{- range $label := keys (get $.Values $value) | sortAlpha }}
{{- if hasKey $own $label }}
{{- fail (printf "%s: the chart sets the label %s itself" $value $label) }}
{{- end }}
{{- end }}
{{- end }}
{{- end }}

{{- /* An annotation twice in a map is invalid. */ -}}
{{- define "informer-exporter.podAnnotations" -}}
{{- $own := include "informer-exporter.ownAnnotations" . }}
{{- range $annotation := keys .Values.podAnnotations | sortAlpha }}
{{- if hasKey (fromYaml $own) $annotation }}
{{- fail (printf "podAnnotations: the chart sets the annotation %s itself" $annotation) }}
{{- end }}
{{- end }}
{{- $own }}
{{- with .Values.podAnnotations }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{- define "informer-exporter.labels" -}}
{{- include "informer-exporter.refuseOwnLabels" . }}
{{- include "informer-exporter.ownLabels" . }}
{{- with .Values.commonLabels }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{- define "informer-exporter.image" -}}
{{ .Values.image.repository }}{{ with .Values.image.digest }}@{{ . }}{{ else }}:{{ .Values.image.tag | default .Chart.AppVersion }}{{ end }}
{{- end }}

{{- define "informer-exporter.hasTLS" -}}
{{- if or .Values.web.tlsSecret .Values.web.config.tls_server_config }}true{{ end }}
{{- end }}

{{- /* RBAC rules for the configuration, as `informer-exporter generate` writes them: for the cluster, and for each of its namespaces. */ -}}
{{- define "informer-exporter.rights" -}}
{{- $config := .Values.config }}
{{- $clusterScoped := list
  "namespaces" "nodes" "persistentvolumes" "customresourcedefinitions.apiextensions.k8s.io" "storageclasses.storage.k8s.io"
  "mutatingwebhookconfigurations.admissionregistration.k8s.io" "validatingwebhookconfigurations.admissionregistration.k8s.io"
  "ingressclasses.networking.k8s.io" "clusterrolebindings.rbac.authorization.k8s.io" "clusterroles.rbac.authorization.k8s.io"
  "priorityclasses.scheduling.k8s.io" "volumeattachments.storage.k8s.io" }}
{{- $entries := concat ($config.resources | default list) ($config.extraResources | default list) }}
{{- if not $config.resources }}
  {{- range $rule := (.Files.Get "files/rbac.yaml" | splitList "\n---\n" | first | fromYaml).rules }}
    {{- range $rule.resources }}
      {{- $name := printf "%s.%s" . (first $rule.apiGroups) | trimSuffix "." }}
      {{- $leases := and (eq $name "leases.coordination.k8s.io") (eq (toString (dig "objects" "leases" true $config)) "false") }}
      {{- if not (or $leases (and $config.namespaces (has $name $clusterScoped))) }}
        {{- $entries = append $entries $name }}
      {{- end }}
    {{- end }}
  {{- end }}
{{- end }}
{{- $cluster := dict }}
{{- $namespaced := dict }}
{{- range $entry := $entries }}
  {{- $name := ternary (dict "name" $entry) $entry (kindIs "string" $entry) | dig "name" "" }}
  {{- $resource := regexReplaceAll "\\..*" $name "" }}
  {{- $group := trimPrefix $resource $name | trimPrefix "." }}
  {{- $skip := false }}
  {{- range $config.excludeResources }}
    {{- $skip = or $skip (regexMatch (printf "^%s$" (regexQuoteMeta . | replace "\\*" ".*")) $name) }}
  {{- end }}
  {{- if eq $name "*" }}
    {{- $group = "*" }}
  {{- else if and (contains "*" $resource) (ne $resource "*") }}
    {{- $skip = true }}
  {{- else if eq $resource "*" }}
    {{- $skip = or $skip (eq $group "") (contains "*" $group) }}
  {{- else if contains "*" $group }}
    {{- $skip = or $skip (ne $group "*") }}
  {{- end }}
  {{- if not $skip }}
    {{- $everywhere := or (not $config.namespaces) (has $name $clusterScoped) }}
    {{- if not (kindIs "string" $entry) }}{{ $everywhere = or $everywhere (eq ($entry.scope | default "") "Cluster") }}{{ end }}
    {{- $rules := ternary $cluster $namespaced $everywhere }}
    {{- $_ := set $rules $group (append (get $rules $group | default list) $resource | uniq | sortAlpha) }}
  {{- end }}
{{- end }}
{{- if and $config.splitResources (not $config.namespaces) (ne ($config.splitBy | default "") "uid") }}
  {{- $_ := set $cluster "" (append (get $cluster "" | default list) "namespaces" | uniq | sortAlpha) }}
{{- end }}
{{- dict "cluster" $cluster "namespaced" $namespaced | toJson }}
{{- end }}

{{- define "informer-exporter.rules" -}}
{{- $all := has "*" (get . "*" | default list) }}
{{- range $group := keys . | sortAlpha }}
{{- if or (not $all) (eq $group "*") }}
{{- $resources := get $ $group }}
- apiGroups: [{{ $group | quote }}]
  resources: {{ ternary (list "*") $resources (has "*" $resources) | toJson }}
  verbs: [list, watch]
{{- end }}
{{- end }}
{{- end }}
