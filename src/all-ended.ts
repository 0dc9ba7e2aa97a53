/**
 * Waits until all runs have ended: what they share is closed after that.
 * @param stopAll lets the others finish when one breaks down
 * @throws what broke down first
 */
export async function allEnded(runs: readonly Promise<void>[], stopAll: () => void): Promise<void> {
  const faults: unknown[] = [];
  await Promise.all(
    runs.map((run) =>
      run.catch((error: unknown) => {
        faults.push(error);
        stopAll();
      }),
    ),
  );
  if (faults.length > 0) throw faults[0];
}
