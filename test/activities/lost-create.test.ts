import { describe, expect, it } from 'vitest';
import { type Attempt, aCatchUp, aWorld, failureOf, outcomeOf, sandbox, withSandbox } from './support.ts';

withSandbox();

describe('a catch-up whose worker died in its create', () => {
  const BEFORE = '2026-11-22T09:30:00.000Z';

  // A lookup found nothing from before, so the create that followed is all there may be.
  it.each<[string, Attempt]>([
    ['after a lookup', { attempt: 2, heartbeatDetails: { reported: 1, unseenSince: BEFORE } }],
    ['after a try that sent nothing', { attempt: 2, heartbeatDetails: { reported: 1 } }],
  ])('finds its transaction, whose window counts from that create: %s', async (_when, attempt) => {
    const { catchUp } = aWorld().background;
    const request = aCatchUp('review', { unseenSince: BEFORE });
    sandbox.control.setFaults({ faults: [{ operation: 'create-transaction', kind: '5xx-after-commit' }] });
    const heartbeats: unknown[] = [];
    await failureOf(outcomeOf(catchUp, request, attempt, heartbeats));
    const [beforeCreate, afterCreate] = heartbeats;
    const next = await outcomeOf(catchUp, request, { attempt: 3, heartbeatDetails: beforeCreate });
    expect(next).toMatchObject({ kind: 'answered', found: true });
    expect(afterCreate).toMatchObject({ unseenSince: 'sentFrom' in next && next.sentFrom });
  });
});
