/** A wrong key is an operator's mistake: it is told once, then the call goes on until the key is right. Design section 6. */
export async function untilAllowed<Outcome extends { kind: string }>(
  call: () => Promise<Outcome>,
  wrongKey: () => void,
): Promise<Exclude<Outcome, { kind: 'forbidden' }>> {
  for (;;) {
    const outcome = await call();
    if (isAllowed(outcome)) return outcome;
    wrongKey();
  }
}

function isAllowed<Outcome extends { kind: string }>(
  outcome: Outcome,
): outcome is Exclude<Outcome, { kind: 'forbidden' }> {
  return outcome.kind !== 'forbidden';
}
