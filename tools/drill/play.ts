/** Plays a drill on a stack of its own. */
import { setTimeout as sleep } from 'node:timers/promises';
import { type Drill, namesCause } from './drills.ts';
import { realAddresses } from './environment.ts';
import { type LogLine, showLine } from './log-lines.ts';
import { createShop, type Shop, type Told } from './shop.ts';
import { type Stack, startStack } from './stack.ts';

export interface PlayOptions {
  env: NodeJS.ProcessEnv;
  /** Told what happens, line by line. */
  say: (line: string) => void;
  /** Waits until it is to be mended; it stays broken for half a minute at the least. */
  untilMended: () => Promise<void>;
}

/** What was seen, with times in milliseconds after the epoch. */
export interface Played {
  drill: string;
  /** Everything that worker and API logged, from their start to their end. */
  log: LogLine[];
  /** When the breaking began, and when it was broken: a release takes a while. */
  breaksAt: number;
  brokenAt: number;
  /** The first line that names the cause; absent: none did. */
  cause?: LogLine;
  /** Whether what the alert counts was seen in the metrics. */
  counted: boolean;
  mendedAt: number;
  overAt: number;
  /** The decisions of the orders that were placed meanwhile. */
  decisions: Record<string, string>;
  /** What no line may hold, by name. */
  secrets: Readonly<Record<string, string>>;
}

/** @returns what was logged while it was broken */
export function loggedWhileBroken({ log, breaksAt, mendedAt }: Played): LogLine[] {
  return log.filter(({ at }) => at >= breaksAt && at <= mendedAt);
}

/** How long it stays broken, at the least. */
const BROKEN_FOR_MS = 30_000;
const ORDER_EVERY_MS = 5_000;
const READY_WITHIN_MS = 60_000;
const OVER_WITHIN_MS = 180_000;
/** When the log should have said it. */
const CAUSE_WITHIN_MS = 10_000;
const COUNTED_WITHIN_MS = 20_000;
const LOOK_EVERY_MS = 2_000;

/** @throws Error when the shell is set up for something real, and when the drill is not over within three minutes of the mend */
export async function play(drill: Drill, options: PlayOptions): Promise<Played> {
  const { env, say } = options;
  const real = realAddresses(env);
  if (real.length > 0) {
    throw new Error(
      `A drill breaks things: it does not run where ${real.join(' and ')} is set. Unset it, or use another shell.`,
    );
  }
  const log: LogLine[] = [];
  let showFrom = Number.POSITIVE_INFINITY;
  let causeSaid = false;
  const onLine = (line: LogLine): void => {
    log.push(line);
    if (line.at < showFrom) return;
    const isCause = namesCause(drill, line);
    say(`  ${showLine(line)}`);
    if (isCause && !causeSaid) say('  ↑ this line names the cause');
    causeSaid ||= isCause;
  };
  const stack = await startStack({ env, onLine });
  try {
    const shop = createShop(stack);
    const { orderId: first } = await shop.place('pass');
    say(
      `Everything runs: the decision of order ${first} is ${await shop.decisionOf(first, READY_WITHIN_MS)}.`,
    );
    await drill.before?.(stack, shop);

    say(`\nWhat happens: ${drill.about}.`);
    for (const words of drill.seen) say(`  ${words}`);
    say(`The alert: ${drill.alert}, ${drill.alertWhen}.`);
    say('\nThe log, as it comes:');
    const breaksAt = Date.now();
    showFrom = breaksAt;
    await drill.break(stack);
    const brokenAt = Date.now();
    const meanwhile = placeOrders(drill, shop, say);
    const counted = await isCounted(drill, stack);
    while (!causeSaid && Date.now() < brokenAt + CAUSE_WITHIN_MS) await sleep(LOOK_EVERY_MS);
    say(`What the alert counts is ${counted ? 'in the metrics' : 'not in the metrics'}.`);
    say('\nWhat to do:');
    for (const words of drill.todo) say(`  ${words}`);
    await Promise.all([options.untilMended(), sleep(brokenAt + BROKEN_FOR_MS - Date.now())]);
    await meanwhile.end();
    showFrom = Number.POSITIVE_INFINITY;
    const mendedAt = Date.now();
    await drill.mend(stack);
    say('\nMended. It is over when:');
    say(`  ${drill.over}.`);
    await untilOver(drill, stack, shop);
    const decisions: Record<string, string> = {};
    for (const orderId of shop.placed) {
      decisions[orderId] = await shop.decisionOf(orderId, OVER_WITHIN_MS);
      say(`  order ${orderId}: ${decisions[orderId]}`);
    }
    const overAt = Date.now();
    say(`Over, ${Math.round((overAt - mendedAt) / 1_000)} s after it was mended.`);
    const cause = log.find((line) => line.at >= breaksAt && namesCause(drill, line));
    return {
      drill: drill.name,
      log,
      breaksAt,
      brokenAt,
      ...(cause !== undefined && { cause }),
      counted,
      mendedAt,
      overAt,
      decisions,
      secrets: stack.secrets,
    };
  } finally {
    showFrom = Number.POSITIVE_INFINITY;
    console.error('Stopping …');
    await stack.stop();
  }
}

/** One every five seconds, as long as it is broken. */
function placeOrders(drill: Drill, shop: Shop, say: PlayOptions['say']): { end(): Promise<void> } {
  const ending = new AbortController();
  const placing = (async () => {
    shop.beginCounting();
    while (!ending.signal.aborted) {
      const { orderId, ...answer } = await shop.place(drill.orders);
      say(`  order ${orderId} was answered ${told(answer)}`);
      await sleep(ORDER_EVERY_MS, undefined, { signal: ending.signal }).catch(() => undefined);
    }
  })();
  placing.catch(() => undefined);
  return {
    end: () => {
      ending.abort();
      return placing;
    },
  };
}

function told({ status, decision, action }: Told): string {
  return decision === undefined ? `HTTP ${status}` : `HTTP ${status}, ${decision}, ${action}`;
}

/** Looks until what the alert counts is there, or it has been broken for long enough. */
async function isCounted({ counted }: Drill, { apiUrl, workers }: Stack): Promise<boolean> {
  const worker = workers.get(counted.build ?? 'v1');
  const url = counted.by === 'API' ? `${apiUrl}/metrics` : (worker?.metricsUrl ?? '');
  const deadline = Date.now() + COUNTED_WITHIN_MS;
  for (;;) {
    await sleep(LOOK_EVERY_MS);
    if (counted.sample.test(await (await fetch(url)).text())) return true;
    if (Date.now() > deadline) return false;
  }
}

async function untilOver(drill: Drill, stack: Stack, shop: Shop): Promise<void> {
  const deadline = Date.now() + OVER_WITHIN_MS;
  while (!(await drill.isOver(stack, shop))) {
    if (Date.now() > deadline) throw new Error('It is not over three minutes after it was mended.');
    await sleep(LOOK_EVERY_MS);
  }
}
