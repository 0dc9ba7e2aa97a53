/** Calls `act` for each, at most so many at a time. @returns the results in the order of the ones */
export async function someAtATime<One, Result>(
  atATime: number,
  ones: Iterable<One>,
  act: (one: One) => Promise<Result>,
): Promise<Result[]> {
  const left = [...ones].entries();
  const results: Result[] = [];
  const worker = async (): Promise<void> => {
    // All workers draw from the same iterator.
    for (const [index, one] of left) results[index] = await act(one);
  };
  await Promise.all(Array.from({ length: atATime }, worker));
  return results;
}
