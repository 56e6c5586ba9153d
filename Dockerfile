# An image of the shop. It has no secrets: addresses and passwords come from the environment (compose.yaml).
FROM node:22-bookworm-slim

WORKDIR /opt/tradepost
COPY . .
RUN npm ci --omit=dev --no-audit --no-fund --loglevel=error && rm -rf ~/.npm

# Uploaded files, the key of stored secrets and, without DATABASE_URL, the embedded PostgreSQL.
RUN install -d -o node -g node -m 0750 /var/lib/tradepost
VOLUME /var/lib/tradepost

ENV NODE_ENV=production \
    HOST=0.0.0.0 \
    TRADEPOST_DATA=/var/lib/tradepost

USER node
# API, LLM gateway. The admin listener is on 8082 of the loopback address.
EXPOSE 8080 8081
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=5s --timeout=5s --start-period=60s --retries=3 CMD ["node", "daemons/ready.ts", "--ignore", "store"]
ENTRYPOINT ["node", "--max-old-space-size=384", "bin/tradepost.ts"]
CMD ["start", "--plain"]
