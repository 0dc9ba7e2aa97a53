import { describe, expect, it } from 'vitest';
import type { OrderEvidence } from './evidence.ts';
import { anArrival, anEntry, aTransactionRecord, moment, START, withState } from './made-up.ts';
import { canceled, cancelRecord, failed, fine, plan, QUIET, uncanceled } from './made-up-canceled.ts';
import { PLANTED } from './planted.ts';
import { ANOMALIES, judge } from './verdict.ts';

function kinds(evidence: OrderEvidence, circumstances = QUIET): string[] {
  return judge(evidence, circumstances).map(({ kind }) => kind);
}

describe('an order with which nothing is wrong', () => {
  it.each([
    ['that passed', fine],
    ['that was canceled', canceled],
  ])('%s has no anomaly', (_case, evidence) => {
    expect(judge(evidence, QUIET)).toEqual([]);
  });
});

describe('a planted anomaly is found', () => {
  it.each(PLANTED)('%s: %s', (kind, _how, evidence, circumstances) => {
    expect(kinds(evidence, circumstances)).toContain(kind);
  });

  it('of every kind', () => {
    expect(new Set(PLANTED.map(([kind]) => kind))).toEqual(new Set(ANOMALIES));
  });
});

describe('what is excused', () => {
  const outage = {
    outages: [{ what: 'worker', from: START + 10_000, until: START + 12_000 }],
    restless: new Set<string>(),
    unreplayable: new Map<string, string>(),
  };

  it('a cancel that the service refused', () => {
    const refused = uncanceled(
      { actions: [{ ...cancelRecord, status: 'refused' }] },
      {
        ledger: [
          anEntry(plan),
          anEntry(plan, { operation: 'cancel-transaction', fault: 'refused-in-body', committed: false }),
        ],
      },
    );
    expect(kinds(refused)).toEqual([]);
  });

  it('a cancel that was too late because a worker was killed meanwhile', () => {
    const late = uncanceled({ actions: [{ ...cancelRecord, status: 'too-late' }] });
    expect(kinds(late, outage)).toEqual([]);
  });

  it('a reading that was lost with a killed worker, when the order was read again in vain', () => {
    const told = (at: number, fault: string | null) =>
      anEntry(plan, {
        operation: 'status-by-url',
        wallAt: moment(at),
        fault,
        outcome: { status: fault === null ? 200 : 503, code: null, decision: 'fail' },
      });
    const lost = {
      ...fine,
      transactions: [aTransactionRecord(plan, failed)],
      ledger: [anEntry(plan), told(10, null), told(40, '5xx-before-commit')],
    };
    expect(kinds(lost)).toEqual(['wrong decision']);
    expect(kinds(lost, outage)).toEqual([]);
  });

  it('attention that comes while the order ends, but nothing else after its end', () => {
    const endingWith = (type: string) => ({
      ...withState(plan, { events: { sequence: 3, delivered: 3, waiting: 0 } }),
      arrivals: [...fine.arrivals, anArrival(plan, 3, { type })],
    });
    expect(kinds(endingWith('order.attention'))).toEqual([]);
    expect(kinds(endingWith('order.decision_changed'))).toEqual(['event wrong']);
  });

  it('the repeat of an event', () => {
    expect(kinds({ ...fine, arrivals: [...fine.arrivals, anArrival(plan, 1)] })).toEqual([]);
  });
});
