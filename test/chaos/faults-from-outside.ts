/** Faults from outside: kills, outages and nonsense during a run, at moments drawn from the seed. */
import { setTimeout as sleep } from 'node:timers/promises';
import { reviewHintSignal } from '../../src/contract/messages.ts';
import type { Span } from '../books/books.ts';
import { API_KEY, type Deployment } from './deployment.ts';
import { faultMix, SLOW_MS } from './fault-mix.ts';
import { type OrderPlan, workflowIdOf } from './plan.ts';
import { Dice } from './random.ts';

export interface FaultsFromOutside {
  /** When something was so; milliseconds after the epoch. */
  spans: { wrongKey: Span[]; unreachable: Span[]; receiverDown: Span[] };
  /** When hints were sent to an order, each for itself. */
  hints: { orderId: string; at: number }[];
  storms: number;
  signals: number;
  wrongSecrets: number;
  /** Webhooks with a wrong secret that were not refused. */
  wrongSecretsTaken: number;
  strangeWebhooks: number;
  keySwitches: number;
  serviceOutages: number;
  receiverOutages: number;
  cardStashFreezes: number;
  /** How often Temporal, and the process that answered meanwhile, were killed together. */
  recordsLost: number;
}

export interface OutsideOptions {
  seed: number;
  /** How long new orders come: every kill happens meanwhile. */
  loadMs: number;
  workers: number;
  /** Pause between two kills of workers, in milliseconds. */
  killEveryMs: number;
  temporalKills: number;
  apiRestarts: number;
}

const SIGNALS_IN_A_STORM = 130;
const BREATH_MS = 1_500;

/** Plays all of them, and ends when `signal` aborts or the load is over. Faults stay until `calmDown`. */
export async function playFaultsFromOutside(
  deployment: Deployment,
  plans: readonly OrderPlan[],
  options: OutsideOptions,
  signal: AbortSignal,
): Promise<FaultsFromOutside> {
  const { seed, loadMs } = options;
  const dice = new Dice(seed, 'faults-from-outside');
  const began = Date.now();
  const report: FaultsFromOutside = {
    spans: { wrongKey: [], unreachable: [], receiverDown: [] },
    hints: [],
    storms: 0,
    signals: 0,
    wrongSecrets: 0,
    wrongSecretsTaken: 0,
    strangeWebhooks: 0,
    keySwitches: 0,
    serviceOutages: 0,
    receiverOutages: 0,
    cardStashFreezes: 0,
    recordsLost: 0,
  };
  deployment.sandbox.control.setPortal({ codeType: 'alternating' });
  deployment.sandbox.control.setFaults(faultMix(seed, plans, 'usual'));

  /** Waits for a moment of the load; false when the run is aborted first. */
  const at = async (share: number): Promise<boolean> => {
    const left = began + share * loadMs - Date.now();
    await sleep(Math.max(0, left), undefined, { signal }).catch(() => undefined);
    return !signal.aborted;
  };

  /** One kill at a time, with a breath after it: a machine that only restarts processes tests nothing else. */
  let turn: Promise<unknown> = Promise.resolve();
  const inTurn = (kill: () => Promise<void>): Promise<void> => {
    const mine = turn.then(async () => {
      if (signal.aborted) return;
      await kill();
      await sleep(BREATH_MS, undefined, { signal }).catch(() => undefined);
    });
    turn = mine;
    return mine;
  };

  const killWorkers = async (): Promise<void> => {
    for (let nth = 0; Date.now() < began + loadMs && !signal.aborted; nth += 1) {
      const pause = options.killEveryMs * (0.5 + dice.number(`pause-${nth}`));
      await sleep(pause, undefined, { signal }).catch(() => undefined);
      if (signal.aborted) return;
      await inTurn(() => deployment.killWorker(dice.between(`victim-${nth}`, 0, options.workers - 1)));
    }
  };
  const restartTemporal = async (): Promise<void> => {
    for (let nth = 1; nth <= options.temporalKills; nth += 1) {
      if (!(await at(nth / (options.temporalKills + 1)))) return;
      const awayMs = dice.between(`away-${nth}`, 200, 3_000);
      await inTurn(() => (nth % 2 === 0 ? deployment.restartTemporal(awayMs) : loseRecords(awayMs)));
    }
  };
  /** Kills Temporal while the service thinks, and the API with its worker once callers have been answered unrecorded. */
  const loseRecords = async (awayMs: number): Promise<void> => {
    if (deployment.apiRuns === 'alone') await deployment.restartApi('SIGTERM', 'with a worker');
    deployment.sandbox.control.setFaults(faultMix(seed + 3, plans, 'slow'));
    await sleep(SLOW_MS);
    const apiDies = sleep(SLOW_MS).then(() => deployment.restartApi('SIGKILL', 'with a worker'));
    await Promise.all([deployment.restartTemporal(SLOW_MS + awayMs), apiDies]);
    if (!signal.aborted) deployment.sandbox.control.setFaults(faultMix(seed + 4, plans, 'usual'));
    report.recordsLost += 1;
  };
  const restartApi = async (): Promise<void> => {
    for (let nth = 0; nth < options.apiRestarts; nth += 1) {
      if (!(await at((nth + 0.6) / options.apiRestarts))) return;
      await inTurn(() =>
        nth % 2 === 0
          ? deployment.restartApi('SIGTERM', 'alone')
          : deployment.restartApi('SIGKILL', 'with a worker'),
      );
    }
  };
  const switchKeys = async (): Promise<void> => {
    if (!(await at(0.55))) return;
    const from = Date.now();
    deployment.sandbox.control.setKeys({ test: 'another-key' });
    report.keySwitches += 1;
    await sleep(2_500);
    deployment.sandbox.control.setKeys({ test: API_KEY });
    report.spans.wrongKey.push({ from, until: Date.now() });
  };
  const takeServiceDown = async (): Promise<void> => {
    if (!(await at(0.35))) return;
    const from = Date.now();
    deployment.sandbox.control.setFaults(faultMix(seed + 1, plans, 'down'));
    report.serviceOutages += 1;
    await sleep(Math.min(6_000, loadMs / 6));
    if (!signal.aborted) deployment.sandbox.control.setFaults(faultMix(seed + 2, plans, 'usual'));
    report.spans.unreachable.push({ from, until: Date.now() });
  };
  const takeReceiverDown = async (): Promise<void> => {
    for (const share of [0.25, 0.7]) {
      if (!(await at(share))) return;
      const from = Date.now();
      await deployment.receiver.goAway();
      report.receiverOutages += 1;
      await sleep(2_000);
      await deployment.receiver.comeBack();
      report.spans.receiverDown.push({ from, until: Date.now() });
    }
  };
  const freezeCardStash = async (): Promise<void> => {
    if (deployment.cards === undefined || !(await at(0.6))) return;
    deployment.cards.freeze();
    report.cardStashFreezes += 1;
    await sleep(2_500);
    deployment.cards.thaw();
  };
  const makeStorm = async (plan: OrderPlan): Promise<void> => {
    const handle = deployment.temporal.workflow.getHandle(workflowIdOf(plan));
    await sleep(plan.startsAfterMs + 250 - (Date.now() - began), undefined, { signal }).catch(
      () => undefined,
    );
    const hint = { source: 'storm', receivedAt: new Date().toISOString() };
    const sent = await Promise.allSettled(
      Array.from({ length: SIGNALS_IN_A_STORM }, () => handle.signal(reviewHintSignal, hint)),
    );
    const arrived = sent.filter(({ status }) => status === 'fulfilled').length;
    report.signals += arrived;
    const at = Date.now();
    for (let nth = 0; nth < arrived; nth += 1) report.hints.push({ orderId: plan.orderId, at });
    if (arrived > 100) report.storms += 1;
  };
  const sendNonsense = async (): Promise<void> => {
    for (let nth = 0; Date.now() < began + loadMs && !signal.aborted; nth += 1) {
      await sleep(1_500, undefined, { signal }).catch(() => undefined);
      const plan = plans[dice.between(`nonsense-${nth}`, 0, plans.length - 1)];
      const wrong = await post(
        deployment.webhookUrl('default', 'a-wrong-secret'),
        `invoiceNumber=${plan?.orderId}`,
      );
      if (wrong !== undefined) report.wrongSecrets += 1;
      if (wrong !== undefined && wrong !== 401 && wrong !== 503) report.wrongSecretsTaken += 1;
      if (
        (await post(deployment.webhookUrl('default'), `{"id":nobody,"invoiceNumber":N${nth}}`)) !== undefined
      ) {
        report.strangeWebhooks += 1;
      }
    }
  };
  await Promise.all([
    killWorkers(),
    restartTemporal(),
    restartApi(),
    switchKeys(),
    takeServiceDown(),
    takeReceiverDown(),
    freezeCardStash(),
    sendNonsense(),
    ...plans.filter((plan) => plan.stormy).map(makeStorm),
  ]);
  return report;
}

/** Ends every fault: from now on only what was broken is mended. */
export async function calmDown(deployment: Deployment): Promise<void> {
  deployment.sandbox.control.clearFaults();
  deployment.sandbox.control.setKeys({ test: API_KEY });
  deployment.receiver.calm();
  await deployment.receiver.comeBack();
}

async function post(url: string, body: string): Promise<number | undefined> {
  try {
    const response = await fetch(url, { method: 'POST', body, signal: AbortSignal.timeout(10_000) });
    await response.arrayBuffer();
    return response.status;
  } catch {
    return undefined;
  }
}
