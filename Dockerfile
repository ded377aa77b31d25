# Build: docker build -t ctxd .
# Run:   docker run -d --name ctxd -p 127.0.0.1:7733:7733 -v ctxd-data:/data ctxd
# Users: docker exec -it ctxd ctxd user add you@example.com
#
# With a read-only root: add --read-only. All that is written goes to the volume.

# Not the slim one: it has strip, which makes the native libraries smaller.
FROM node:24-trixie AS build
RUN npm install --global bun@1.4.5
WORKDIR /src
COPY package.json bun.lock bunfig.toml ./
RUN bun run setup
COPY tsconfig.json LICENSE NOTICE ./
COPY src ./src
RUN bun run build \
 && install -d -o 10001 -g 10001 -m 700 /image/data \
 && install -D -m 755 dist/ctxd /image/usr/local/bin/ctxd \
 && install -D -m 644 -t /image/usr/share/doc/ctxd LICENSE NOTICE

# Has libc, libm, libgcc_s and libstdc++, which is all that the executable asks of a system.
FROM debian:trixie-slim
LABEL org.opencontainers.image.title="ctxd" \
      org.opencontainers.image.description="A private long-term memory for AI agents" \
      org.opencontainers.image.licenses="Apache-2.0"
COPY --from=build /image /
ENV CTXD_HOST=0.0.0.0 \
    CTXD_DATA_DIR=/data \
    CTXD_CACHE_DIR=/data/cache \
    TMPDIR=/data/cache
USER 10001:10001
WORKDIR /data
VOLUME /data
EXPOSE 7733
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=30s --timeout=10s --start-period=30s CMD ["ctxd", "health"]
ENTRYPOINT ["ctxd"]
CMD ["serve"]
