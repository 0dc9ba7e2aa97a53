/** Where a Redis is and how to log in. It holds a password: never log it. */
export interface RedisAddress {
  socket: { host: string; port: number; tls?: true };
  username?: string;
  password?: string;
  database?: number;
}

const DEFAULT_PORT = 6379;

/** @returns the parts of `redis[s]://[user][:password]@host[:port][/database]`, or undefined for anything else */
export function readRedisAddress(written: string): RedisAddress | undefined {
  if (!URL.canParse(written)) return undefined;
  const { protocol, hostname, port, username, password, pathname, search, hash } = new URL(written);
  const database = /^\/?(\d{0,5})$/.exec(pathname)?.[1];
  if (!/^rediss?:$/.test(protocol) || hostname === '' || database === undefined || search || hash) {
    return undefined;
  }
  try {
    return {
      socket: {
        host: hostname.replace(/^\[(.*)\]$/, '$1'),
        port: port === '' ? DEFAULT_PORT : Number(port),
        ...(protocol === 'rediss:' && { tls: true as const }),
      },
      ...(username !== '' && { username: decodeURIComponent(username) }),
      ...(password !== '' && { password: decodeURIComponent(password) }),
      ...(database !== '' && { database: Number(database) }),
    };
  } catch {
    // A % in the user or the password that encodes nothing, or half a character.
    return undefined;
  }
}
