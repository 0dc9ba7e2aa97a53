/** @returns the code of an error, such as `ENOENT` of a system call's or a number of gRPC's; undefined when it has none */
export function errorCode(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined;
}
