{{- define "gateway.name" -}}
{{ .Release.Name | trunc 40 | trimSuffix "-" }}
{{- end }}

{{/* Labels that pods are found by; the argument is a list of the context and the component. */}}
{{- define "gateway.selector" -}}
app.kubernetes.io/name: speech-gateway
app.kubernetes.io/instance: {{ (index . 0).Release.Name }}
app.kubernetes.io/component: {{ index . 1 }}
{{- end }}

{{- define "gateway.labels" -}}
{{ include "gateway.selector" . }}
app.kubernetes.io/version: {{ (index . 0).Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ (index . 0).Release.Service }}
helm.sh/chart: {{ (index . 0).Chart.Name }}-{{ (index . 0).Chart.Version }}
{{- end }}

{{- define "gateway.image" -}}
{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end }}

{{/* Not root, and nothing to write to but the volumes. */}}
{{- define "gateway.podSecurity" -}}
runAsNonRoot: true
runAsUser: 1000
runAsGroup: 1000
fsGroup: 1000
fsGroupChangePolicy: OnRootMismatch
seccompProfile: { type: RuntimeDefault }
{{- end }}

{{- define "gateway.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities: { drop: [ALL] }
{{- end }}

{{/* Ten minutes for a start with migrations, which must not be cut; a pod that drains is not ready, and lives. */}}
{{- define "gateway.probes" -}}
startupProbe:
  httpGet: { path: /health/live, port: http }
  periodSeconds: 2
  failureThreshold: 300
livenessProbe:
  httpGet: { path: /health/live, port: http }
  periodSeconds: 10
  timeoutSeconds: 5
  failureThreshold: 3
readinessProbe:
  httpGet: { path: /health, port: http }
  periodSeconds: 2
  timeoutSeconds: 2
  failureThreshold: 2
{{- end }}

{{/* Balancers are told before the process is: from SIGTERM on it refuses what is new. */}}
{{- define "gateway.lifecycle" -}}
preStop:
  exec: { command: [sleep, '10'] }
{{- end }}

{{/* Seconds of preStop, of the calls, and of the goodbye behind them. */}}
{{- define "gateway.grace" -}}
{{ add 10 (int .Values.gateway.drainSeconds) 60 }}
{{- end }}

{{/* Settings that the chart makes itself, or that the Secret holds: a second one would go unnoticed, or its grace period. */}}
{{- define "gateway.ownSettings" -}}
{{- $own := list "PORT" "NODE_URL" "DATA_DIR" "MODELS_DIR" "PUBLIC_URL" "CALL_PLACES" "DRAIN_SECONDS" "TLS_CERT" "TLS_KEY" -}}
{{- range concat $own .Values.secret.required .Values.secret.optional -}}
{{- if or (hasKey $.Values.gateway.settings .) (hasKey $.Values.speech.settings .) -}}
{{- fail (printf "settings: %s has a value of its own in this chart, or belongs into the Secret" .) -}}
{{- end -}}
{{- end -}}
{{- end }}

{{/* Where there is a pool of speech: its pods' addresses, comma-separated. */}}
{{- define "gateway.speechAddresses" -}}
{{- $name := printf "%s-speech" (include "gateway.name" .) -}}
{{- $namespace := .Release.Namespace -}}
{{- $addresses := list -}}
{{- range $pod := until (int .Values.speech.replicas) -}}
{{- $addresses = append $addresses (printf "http://%s-%d.%s.%s.svc:8080" $name $pod $name $namespace) -}}
{{- end -}}
{{ join "," $addresses }}
{{- end }}

{{- define "gateway.behavior" -}}
scaleUp:
  stabilizationWindowSeconds: 0
  policies: [{ type: Percent, value: 100, periodSeconds: 60 }, { type: Pods, value: 2, periodSeconds: 60 }]
# A pod that leaves serves its calls to their end: it is not taken back for a lull.
scaleDown:
  stabilizationWindowSeconds: 600
  policies: [{ type: Pods, value: 1, periodSeconds: 60 }]
{{- end }}

{{- define "gateway.egress" -}}
# Engines, models, tools and webhooks may be anywhere: what they may be is the gateway's to decide (OUTBOUND_ALLOW).
- to:
    - ipBlock: { cidr: 0.0.0.0/0, except: {{ toJson .Values.networkPolicy.except }} }
    - ipBlock: { cidr: '::/0' }
# The cluster's own names.
- ports: [{ port: 53, protocol: UDP }, { port: 53, protocol: TCP }]
{{- end }}
