{{- define "ctxd.name" -}}
{{- $name := .Release.Name -}}
{{- if not (contains .Chart.Name $name) }}{{ $name = printf "%s-%s" $name .Chart.Name }}{{ end -}}
{{- $name | trunc 63 | trimSuffix "-" -}}
{{- end }}

{{- define "ctxd.selector" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "ctxd.labels" -}}
{{ include "ctxd.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end }}

{{- define "ctxd.image" -}}
{{ required "image.repository: the name of the image, which the Dockerfile builds" .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end }}

{{- define "ctxd.env" -}}
- name: CTXD_DATABASE_URL
  valueFrom:
    secretKeyRef:
      name: {{ required "database.secret: a secret with the address of PostgreSQL" .Values.database.secret }}
      key: {{ .Values.database.secretKey }}
- name: CTXD_OBJECTS
  value: {{ required "objects.url: s3://BUCKET/PREFIX" .Values.objects.url | quote }}
- name: AWS_REGION
  value: {{ .Values.objects.region | quote }}
{{- with .Values.objects.endpoint }}
- name: AWS_ENDPOINT_URL_S3
  value: {{ . | quote }}
{{- end }}
- name: AWS_ACCESS_KEY_ID
  valueFrom:
    secretKeyRef:
      name: {{ required "objects.secret: a secret with the keys of the object store" .Values.objects.secret }}
      key: {{ .Values.objects.accessKeyIdKey }}
- name: AWS_SECRET_ACCESS_KEY
  valueFrom:
    secretKeyRef:
      name: {{ .Values.objects.secret }}
      key: {{ .Values.objects.secretAccessKeyKey }}
- name: CTXD_CACHE_SIZE
  value: {{ .Values.cache.size | quote }}
- name: CTXD_DRAIN_SECONDS
  value: {{ .Values.drainSeconds | quote }}
- name: CTXD_PUBLIC_URL
  value: {{ required "publicUrl: the origin that clients see" .Values.publicUrl | quote }}
- name: CTXD_TRUST_PROXY
  value: {{ .Values.trustProxy | quote }}
- name: CTXD_HOST
  value: 0.0.0.0
- name: CTXD_PORT
  value: "7733"
- name: CTXD_DATA_DIR
  value: /data
- name: CTXD_CACHE_DIR
  value: /data/cache
- name: TMPDIR
  value: /data/cache
{{- if not (hasKey .Values.settings "CTXD_LOG_FORMAT") }}
- name: CTXD_LOG_FORMAT
  value: json
{{- end }}
{{- range $name, $value := .Values.settings }}
- name: {{ $name }}
  value: {{ $value | quote }}
{{- end }}
{{- range .Values.secretSettings }}
- name: {{ .name }}
  valueFrom:
    secretKeyRef:
      name: {{ .secret }}
      key: {{ .key }}
{{- end }}
{{- end }}

{{- define "ctxd.security" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities:
  drop: [ALL]
{{- end }}
