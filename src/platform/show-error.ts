const MAX_FRAMES = 10;
const MAX_CAUSES = 5;

const slug = (value: unknown) =>
  typeof value === 'string' && /^[\w-]{1,64}$/.test(value) ? value : undefined;

/**
 * Shows an error without its message, which may quote the input: its class, its code, the id of the key it lacked, why there was
 * no connection, and its stack frames.
 */
export function showError(error: unknown, causesLeft = MAX_CAUSES): Record<string, unknown> {
  if (!(error instanceof Error)) return { type: typeof error, ...connectionFailure(error) };
  const { name, code, keyId, type, cause } = error as Error & Record<string, unknown>;
  // The type of an activity's failure is the reason.
  const reason = name === 'ApplicationFailure' ? slug(type) : undefined;
  if (reason !== undefined) return { type: name, reason };
  return {
    type: slug(name) ?? 'Error',
    code: typeof code === 'number' ? code : slug(code),
    keyId: slug(keyId),
    ...connectionFailure(error.message),
    frames: framesOf(error),
    cause: causesLeft > 0 && cause instanceof Error ? showError(cause, causesLeft - 1) : undefined,
  };
}

/** The gRPC status, as the two gRPC libraries begin their messages with it; an error as text has its name in front. */
const GRPC = /^(?:\w{1,40}: )?(?:\d{1,2} ([A-Z_]{2,20}): |Status \{ code: ([A-Za-z]{2,20}),)/;
/** Words of Node, Rust, TLS and this product that name a cause and quote nothing. */
const WHY =
  /\b((?:Temporal|the worker) did not answer in time|E(?:CONNREFUSED|CONNRESET|CONNABORTED|TIMEDOUT|HOSTUNREACH|NETUNREACH|HOSTDOWN|PIPE|NOTFOUND|AI_AGAIN)|Connection(?:Refused|Reset|Aborted)|BrokenPipe|TimedOut|NotConnected|HostUnreachable|NetworkUnreachable|UnexpectedEof|dns error|UnknownIssuer|NotValidForName|BadSignature|Expired|NotValidYet|CertificateRequired|HandshakeFailure)\b/;

/** Reads from an error message why a connection failed: the gRPC status, and the cause if the message names one. */
function connectionFailure(message: unknown): Record<string, string | undefined> {
  if (typeof message !== 'string') return {};
  const begin = message.slice(0, 2_000);
  const [, ofNode, ofRust] = GRPC.exec(begin) ?? [];
  const grpc = ofNode ?? ofRust;
  return { grpc, why: WHY.exec(begin)?.[1] ?? grpc };
}

const FRAME = /^\s+at (?:[^()]{1,200} \()?(?:file:\/\/|node:|\/)[^()\s]{1,400}:\d+:\d+\)?$/;

/** Lines of the message may look like frames, so the message is cut off first. */
function framesOf({ stack = '', message }: Error): string[] {
  const after = stack.includes(message) ? stack.indexOf(message) + message.length : 0;
  const lines = stack.slice(after).split('\n');
  return lines
    .filter((line) => FRAME.test(line))
    .slice(0, MAX_FRAMES)
    .map((line) => line.trim());
}
