/** The workflows of a release that was never tried with an order. */
export * from '../../src/workflows/index.ts';

/** Instead of our own: it throws at each step, as a slip of the pen does. */
export async function screenOrder(): Promise<never> {
  throw new TypeError("Cannot read properties of undefined (reading 'decision')");
}
