# syntax=docker/dockerfile:1
# The gateway with all that it needs to start, for a root that is read-only and a user that is not root.
#   docker build -t speech-gateway .          --build-arg RECORDINGS=1 for recordings in a bucket, LIVEKIT=1 for calls on LiveKit
#   docker compose up                         gateway and Postgres (compose.yaml)
FROM node:24-trixie-slim AS setup
WORKDIR /srv/speech-gateway
COPY . .
# Settings that need more packages than the others; their values do not matter here.
ARG RECORDINGS= LIVEKIT= TRACING=
RUN RECORDINGS_URL="${RECORDINGS:+s3://bucket}" \
    LIVEKIT_URL="${LIVEKIT:+wss://livekit.invalid}" \
    OTEL_EXPORTER_OTLP_ENDPOINT="${TRACING:+http://collector.invalid}" \
    npm run setup

FROM node:24-trixie-slim
COPY --from=setup /srv/speech-gateway /srv/speech-gateway
RUN install -d -o node -g node -m 700 /data
WORKDIR /srv/speech-gateway
ENV DATA_DIR=/data
USER node
VOLUME /data
EXPOSE 8080/tcp 7882/udp
STOPSIGNAL SIGTERM
HEALTHCHECK --start-period=30s CMD ["node", "ops/deploy/health.mjs"]
CMD ["node", "ops/setup/start.mjs"]
