# One image for the worker, the API, the sandbox and the set-up; each service names its own command.
FROM node:24.21.0-bookworm-slim AS dependencies
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci --omit=dev

FROM node:24.21.0-bookworm-slim
# Node bundles CA certificates. The worker's connection to Temporal uses the system's, which this image lacks.
RUN apt-get update && apt-get install -y --no-install-recommends ca-certificates && rm -rf /var/lib/apt/lists/*
ENV NODE_ENV=production
WORKDIR /app
COPY --from=dependencies /app/node_modules ./node_modules
COPY package.json tsconfig.json ./
COPY deploy/health.mjs ./deploy/health.mjs
COPY bin ./bin
COPY src ./src
RUN node --import ./bin/typescript.mjs src/platform/bundle-workflows.ts
# The sandbox keeps its state here; the other processes write nothing.
RUN mkdir /data && chown node:node /data
ENV DATA_DIR=/data
# The user `node`: Kubernetes' `runAsNonRoot` accepts a number only.
USER 1000
# Node itself is process 1, so that it gets the signal to stop: what runs may finish. It reads TypeScript by itself.
ENTRYPOINT ["node"]
CMD ["src/worker.ts"]
