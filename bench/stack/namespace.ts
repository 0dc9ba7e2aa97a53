import { RETENTION_SECONDS, registerNamespace, setupTemporal } from '../../src/temporal/namespace.ts';
import type { Stack } from './stack.ts';

/** Makes a namespace for orders, so that workers of different settings share one server. */
export async function makeNamespace({ connection }: Stack, namespace: string): Promise<void> {
  await registerNamespace(connection, namespace, RETENTION_SECONDS);
  await setupTemporal(connection, namespace);
}
