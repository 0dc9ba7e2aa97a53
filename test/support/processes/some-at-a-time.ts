/** Calls `act` for each, at most so many at a time. */
export async function someAtATime<One>(
  atATime: number,
  ones: Iterable<One>,
  act: (one: One) => Promise<unknown>,
): Promise<void> {
  const left = ones[Symbol.iterator]();
  const worker = async (): Promise<void> => {
    for (let next = left.next(); next.done !== true; next = left.next()) await act(next.value);
  };
  await Promise.all(Array.from({ length: atATime }, worker));
}
