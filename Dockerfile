# Build: docker build -t ctxd .
# Run:   docker run -d --name ctxd -p 127.0.0.1:7733:7733 -v ctxd-data:/data ctxd
# Users: docker exec -it ctxd ctxd user add you@example.com
#
# With a read-only root file system: add --read-only. ctxd writes only to the volume.
# For another processor: docker buildx build --platform linux/arm64 -t ctxd .
#
# A release replaces the first stage by its built executables: see src/build/release/image.ts.

# Not the slim variant: this one has strip, which makes the native libraries smaller. Runs on the build platform.
FROM --platform=$BUILDPLATFORM docker.io/library/node:24-trixie@sha256:be40f6a87b9b22215ddb20da0a2320a5c6d583fe3ee3b0024d9fa4f05b40c8fd AS build
RUN npm install --global bun@1.4.5
WORKDIR /src
COPY package.json bun.lock bunfig.toml ./
RUN bun run setup
COPY tsconfig.json LICENSE NOTICE CHANGELOG.md ./
COPY src ./src
ARG TARGETARCH
RUN case "$TARGETARCH" in amd64) target=linux-x64 ;; *) target=linux-$TARGETARCH ;; esac \
 && bun run build --target "$target" \
 && install -D -m 755 "dist/ctxd-$target" /image/usr/local/bin/ctxd \
 && install -D -m 644 -t /image/usr/share/doc/ctxd LICENSE NOTICE \
 && install -d -m 700 /volume/data

# Has libc, libm, libgcc_s and libstdc++, which are all system libraries that the executable needs.
FROM docker.io/library/debian:trixie-slim@sha256:a29215f6a35e51e22adffa17f89e9d2ef06214e64a2bad10d765c46aea49f11f
LABEL org.opencontainers.image.title="ctxd" \
      org.opencontainers.image.description="A private long-term memory for AI agents" \
      org.opencontainers.image.licenses="Apache-2.0"
COPY --from=build /image /
COPY --from=build --chown=10001:10001 /volume /
ENV CTXD_HOST=0.0.0.0 \
    CTXD_DATA_DIR=/data \
    CTXD_CACHE_DIR=/data/cache \
    CTXD_INSTALLED_BY=image \
    TMPDIR=/data/cache
USER 10001:10001
WORKDIR /data
VOLUME /data
EXPOSE 7733
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=30s --timeout=10s --start-period=30s CMD ["ctxd", "health"]
ENTRYPOINT ["ctxd"]
CMD ["serve"]
