/** Kills and outages during a run, at moments drawn from the seed. */
import { setTimeout as sleep } from 'node:timers/promises';
import { reviewHintSignal } from '../../../src/contract/messages.ts';
import type { Span, World } from '../../books/books.ts';
import { Dice, mixed } from '../../simulation/random.ts';
import { API_KEY, type Deployment } from '../deployment.ts';
import { type OrderPlan, workflowIdOf } from '../plan/plan.ts';
import { type Condition, faultMix, SLOW_MS } from './fault-mix.ts';

/** What happened, for the books; milliseconds after the epoch. */
export interface FaultsFromOutside {
  spans: Pick<World, 'wrongKey' | 'unreachable' | 'receiverDown'>;
  /** Each hint that was signaled to an order. */
  hints: { orderId: string; at: number }[];
}

export interface OutsideOptions {
  seed: number;
  /** How long new orders arrive. Every kill happens in this time. */
  loadMs: number;
  /** Mean pause between two kills of workers, in milliseconds. */
  killEveryMs: number;
  temporalKills: number;
  apiRestarts: number;
}

const HINTS_IN_A_STORM = 130;
const BREATH_MS = 1_500;
const KEY_OR_CARDS_AWAY_MS = 2_500;
const RECEIVER_AWAY_MS = 2_000;

/** Causes all of them, and ends when `signal` aborts or the load is over. Call `endFaults` afterwards. */
export async function causeFaultsFromOutside(
  { sandbox: { control }, receiver, cards, client, temporal, workers, restartApi }: Deployment,
  plans: readonly OrderPlan[],
  { seed, loadMs, killEveryMs, temporalKills, apiRestarts }: OutsideOptions,
  signal: AbortSignal,
): Promise<FaultsFromOutside> {
  const began = Date.now();
  const hints: FaultsFromOutside['hints'] = [];
  const dice = new Dice(mixed(seed, 0));
  const pause = (ms: number) => sleep(Math.max(0, ms), undefined, { signal }).catch(() => undefined);
  let mixes = 0;
  const setKey = (test: string) => () => control.setKeys({ test });
  const setMood = (mood: typeof receiver.mood) => () => {
    receiver.mood = mood;
  };
  const setFaults = (condition: Condition) => (): void => {
    mixes += 1;
    if (!signal.aborted) control.setFaults(faultMix(mixed(seed, mixes), plans, condition));
  };
  /** Has an outage begin after that share of the load, and end after that time. */
  const outage = async (share: number, ms: number, begin: () => void, end: () => void): Promise<Span[]> => {
    await pause(began + share * loadMs - Date.now());
    if (signal.aborted) return [];
    const from = Date.now();
    begin();
    await sleep(ms);
    end();
    return [{ from, until: Date.now() }];
  };
  /** One kill at a time, with a breath after it, so that the processes also do their work. */
  let turn: Promise<unknown> = Promise.resolve();
  const inTurn = (kill: () => Promise<unknown>): Promise<void> => {
    const mine = turn.then(async () => {
      if (signal.aborted) return;
      await kill();
      await pause(BREATH_MS);
    });
    turn = mine;
    return mine;
  };
  /** Kills at equal distances. */
  const spread = async (times: number, kill: (nth: number) => Promise<unknown>): Promise<void> => {
    for (let nth = 1; nth <= times; nth += 1) {
      await pause(began + (nth / (times + 1)) * loadMs - Date.now());
      await inTurn(() => kill(nth));
    }
  };

  const killWorkers = async (): Promise<void> => {
    for (;;) {
      await pause(killEveryMs * (0.5 + dice.number()));
      if (Date.now() >= began + loadMs || signal.aborted) return;
      const victim = workers[dice.between(0, workers.length - 1)];
      await inTurn(async () => victim?.kill('SIGKILL'));
    }
  };
  /** Kills Temporal during slow creates, and the API with its worker once callers have been answered without a record. */
  const loseRecords = async (awayMs: number): Promise<void> => {
    await restartApi('SIGTERM', 'API with worker');
    setFaults('slow')();
    await sleep(SLOW_MS);
    const apiDies = sleep(SLOW_MS).then(() => restartApi('SIGKILL', 'API with worker'));
    await Promise.all([temporal.kill('SIGKILL', SLOW_MS + awayMs), apiDies]);
    setFaults('usual')();
  };
  const makeStorm = async (plan: OrderPlan): Promise<void> => {
    await pause(began + plan.startsAfterMs + 250 - Date.now());
    const handle = client.workflow.getHandle(workflowIdOf(plan));
    const hint = { source: 'storm', receivedAt: new Date().toISOString() };
    const send = () => handle.signal(reviewHintSignal, hint);
    const sent = await Promise.allSettled(Array.from({ length: HINTS_IN_A_STORM }, send));
    const arrived = sent.filter(({ status }) => status === 'fulfilled');
    hints.push(...arrived.map(() => ({ orderId: plan.orderId, at: Date.now() })));
  };

  control.setPortal({ codeType: 'alternating' });
  setFaults('usual')();
  const [[unreachable, wrongKey, ...receiverDown]] = await Promise.all([
    Promise.all([
      outage(0.35, Math.min(6_000, loadMs / 6), setFaults('down'), setFaults('usual')),
      outage(0.55, KEY_OR_CARDS_AWAY_MS, setKey('another-key'), setKey(API_KEY)),
      outage(0.25, RECEIVER_AWAY_MS, setMood('away'), setMood('moody')),
      outage(0.7, RECEIVER_AWAY_MS, setMood('away'), setMood('moody')),
    ]),
    outage(0.6, KEY_OR_CARDS_AWAY_MS, cards.freeze, cards.thaw),
    killWorkers(),
    spread(temporalKills, (nth) => {
      const awayMs = dice.between(200, 3_000);
      return nth % 2 === 0 ? temporal.kill('SIGKILL', awayMs) : loseRecords(awayMs);
    }),
    spread(apiRestarts, (nth) =>
      nth % 2 === 0 ? restartApi('SIGKILL', 'API with worker') : restartApi('SIGTERM', 'API'),
    ),
    ...plans.filter((plan) => plan.stormy).map(makeStorm),
  ]);
  return { spans: { unreachable, wrongKey, receiverDown: receiverDown.flat() }, hints };
}

/** Ends every fault. */
export function endFaults({ sandbox: { control }, receiver }: Deployment): void {
  control.clearFaults();
  control.setKeys({ test: API_KEY });
  receiver.mood = 'calm';
}
