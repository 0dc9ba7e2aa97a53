/** Whether a value is a JSON object: neither null nor an array. */
export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Whether a host, as in an address, is this machine. */
export function isLoopback(host: string): boolean {
  return /^(?:localhost|::1|\[::1\]|127(?:\.\d{1,3}){3})$/i.test(host);
}

/**
 * Returns an IP address of `X-Forwarded-For` alone. `203.0.113.7:54321` and `[2001:db8::1]:443` have a port. `::ffff:203.0.113.7` is an
 * IPv4 address as a socket for both families names it, and `fe80::1%eth0` one with its network interface.
 */
export function bareAddress(text: string): string {
  const address = text.trim();
  const bare = /^\[([^\]]+)\](?::\d+)?$/.exec(address)?.[1] ?? /^([\d.]+):\d+$/.exec(address)?.[1] ?? address;
  return bare.replace(/%.*$/, '').replace(/^::ffff:(?=[\d.]+$)/i, '');
}
