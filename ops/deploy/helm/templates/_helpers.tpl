{{- define "gateway.name" -}}
{{ .Release.Name | trunc 40 | trimSuffix "-" }}
{{- end }}

{{/* Labels that select pods; the argument is a list of the context and the component. */}}
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

{{/* A setting as text. YAML's numbers are floats, of which large ones would be written with an exponent. */}}
{{- define "gateway.text" -}}
{{- if kindIs "float64" . -}}
{{- ternary (int64 .) . (eq (floor .) .) | toString | quote -}}
{{- else -}}
{{- toString . | quote -}}
{{- end -}}
{{- end }}

{{/* Not root; only the volumes are writable. */}}
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

{{/* Seconds that a start may take, since migrations must not be interrupted. */}}
{{- define "gateway.startSeconds" -}}
600
{{- end }}

{{/* How long a start waits for Postgres: as long as the probe, but for the time to say why and for what comes after. */}}
{{- define "gateway.databaseWait" -}}
{{ sub (include "gateway.startSeconds" . | int) 60 }}
{{- end }}

{{/*
A pod that drains is live, but not ready. Postgres is shared by all pods: when it is away, no other pod serves better, and
clients are to get its 503, and what needs no database, instead of no connection.
*/}}
{{- define "gateway.probes" -}}
startupProbe:
  httpGet: { path: /health/live, port: http }
  periodSeconds: 2
  failureThreshold: {{ div (include "gateway.startSeconds" . | int) 2 }}
livenessProbe:
  httpGet: { path: /health/live, port: http }
  periodSeconds: 10
  timeoutSeconds: 5
  failureThreshold: 3
readinessProbe:
  httpGet: { path: '/health?exclude=database', port: http }
  periodSeconds: 2
  timeoutSeconds: 2
  failureThreshold: 2
{{- end }}

{{/* Load balancers notice the end first: after SIGTERM the process answers new work for seconds only. */}}
{{- define "gateway.lifecycle" -}}
preStop:
  exec: { command: [sleep, '10'] }
{{- end }}

{{/* Seconds of preStop, of the calls, and of the shutdown after them. */}}
{{- define "gateway.grace" -}}
{{ add 10 (int .Values.gateway.drainSeconds) 60 }}
{{- end }}

{{/* A size in MiB. */}}
{{- define "gateway.mebibytes" -}}
{{- $unit := regexFind "[A-Za-z]*$" . -}}
{{- $units := dict "Mi" 1 "Gi" 1024 "Ti" 1048576 -}}
{{- if not (hasKey $units $unit) -}}{{- fail (printf "gateway.dataSize: %s is no number of Mi, Gi or Ti" .) -}}{{- end -}}
{{- mulf (trimSuffix $unit . | float64) (get $units $unit) | floor | int64 -}}
{{- end }}

{{/*
MiB that each process may take of /data for recordings that wait for the bucket (half of it in all) and for uploads (a quarter). A pod
that has more there than its size is ended by Kubernetes at once, with its calls.
*/}}
{{- define "gateway.spools" -}}
{{- $share := div (include "gateway.mebibytes" .Values.gateway.dataSize | int64) (mul 4 (int (.Values.gateway.settings.WORKERS | default 1))) -}}
{{- dict "RECORDINGS_SPOOL_MB" (max 1 (mul 2 $share)) "SPOOL_MB" (max 256 $share) | toJson -}}
{{- end }}

{{/* Refuses settings that the chart sets itself or that belong into the Secret: one of the two values would be ignored. */}}
{{- define "gateway.ownSettings" -}}
{{- $own := list "PORT" "NODE_URL" "DATA_DIR" "MODELS_DIR" "PUBLIC_URL" "CALL_PLACES" "DATABASE_WAIT_SECONDS" "DRAIN_SECONDS" "TLS_CERT" "TLS_KEY" -}}
{{- range $keys := .Values.secret.bySetting -}}
{{- $own = concat $own $keys -}}
{{- end -}}
{{- range concat $own .Values.secret.required .Values.secret.optional -}}
{{- if or (hasKey $.Values.gateway.settings .) (hasKey $.Values.speech.settings .) -}}
{{- fail (printf "settings: %s has a value of its own in this chart, or belongs into the Secret" .) -}}
{{- end -}}
{{- end -}}
{{- end }}

{{/* With speech pods, lists of engines that lack them would leave them without work. */}}
{{- define "gateway.speechIsUsed" -}}
{{- if .Values.speech.enabled -}}
{{- range list "TTS_ENGINES" "STT_ENGINES" -}}
{{- $engines := get $.Values.gateway.settings . | default "native-compatible" -}}
{{- if not (has "native-compatible" (splitList "," (nospace $engines))) -}}
{{- fail (printf "gateway.settings.%s lacks native-compatible, the engine of the speech pods: add it, or set speech.enabled: false" .) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end }}

{{/* The number of gateways: as set, or as the autoscaler has left it. */}}
{{- define "gateway.replicas" -}}
{{- $present := lookup "apps/v1" "Deployment" .Release.Namespace (include "gateway.name" .) -}}
{{- if eq .Values.autoscaling.by "none" -}}
{{ .Values.gateway.replicas }}
{{- else if $present -}}
{{ $present.spec.replicas }}
{{- else -}}
{{ .Values.autoscaling.min }}
{{- end -}}
{{- end }}

{{/* Whether new pods start before old ones end: "true" or empty. */}}
{{- define "gateway.surges" -}}
{{- $spare := .Values.gateway.spareNode -}}
{{- $isOne := eq 1 (ternary .Values.gateway.replicas .Values.autoscaling.min (eq .Values.autoscaling.by "none") | int) -}}
{{- if or (ne .Values.calls "embedded") (ternary $isOne $spare (kindIs "invalid" $spare)) -}}true{{- end -}}
{{- end }}

{{/* Differs when the data of the Secret does, so that an upgrade replaces the pods. */}}
{{- define "gateway.secretChecksum" -}}
{{- with lookup "v1" "Secret" .Release.Namespace .Values.secret.name -}}
checksum/secret: {{ toJson .data | sha256sum }}
{{- end -}}
{{- end }}

{{- define "gateway.lostNode" -}}
{{- range list "not-ready" "unreachable" }}
- { key: node.kubernetes.io/{{ . }}, operator: Exists, effect: NoExecute, tolerationSeconds: {{ $.Values.lostNodeSeconds }} }
{{- end }}
{{- end }}

{{/* The addresses of the speech pods, comma-separated. */}}
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
# A pod that is removed still serves its calls to their end, so a short lull removes none.
scaleDown:
  stabilizationWindowSeconds: 600
  policies: [{ type: Pods, value: 1, periodSeconds: 60 }]
{{- end }}

{{- define "gateway.egress" -}}
# Engines, models, tools and webhooks may be anywhere: the gateway itself restricts them (OUTBOUND_ALLOW).
{{- $four := list }}
{{- $six := list }}
{{- range .Values.networkPolicy.except }}
{{- if contains ":" . }}{{ $six = append $six . }}{{ else }}{{ $four = append $four . }}{{ end }}
{{- end }}
- to:
    - ipBlock: { cidr: 0.0.0.0/0, except: {{ toJson $four }} }
    - ipBlock: { cidr: '::/0', except: {{ toJson $six }} }
# The cluster's DNS.
- ports: [{ port: 53, protocol: UDP }, { port: 53, protocol: TCP }]
{{- end }}
