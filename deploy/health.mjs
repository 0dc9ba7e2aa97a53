// `node deploy/health.mjs URL`: ends with 0 when the address answers 2xx within 4 s. For health checks in containers.
const response = await fetch(process.argv[2], { signal: AbortSignal.timeout(4_000) }).catch(() => undefined);
process.exit(response?.ok ? 0 : 1);
