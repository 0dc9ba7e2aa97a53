/** Lives one life on the real workflows, and compares the order with the model after every step. */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { WithStartWorkflowOperation, type WorkflowHandle, WorkflowNotFoundError } from '@temporalio/client';
import { decisionUpdateId, orderWorkflowId, TASK_QUEUE } from '../../src/orders/ids.ts';
import { decisionUpdate, orderQuery, recheckSignal, reviewHintSignal } from '../../src/orders/messages.ts';
import type { CheckoutAnswer } from '../../src/orders/state.ts';
import type { screenOrder } from '../../src/workflows/index.ts';
import { MINUTE } from '../fixtures/policies.ts';
import { aTransaction } from '../fixtures/transactions.ts';
import { type Asked, refusedOrGone } from './asked.ts';
import { differences, onTheEdge } from './compare.ts';
import { fold } from './fold.ts';
import { current, type Model } from './model.ts';
import { momentOf } from './moments.ts';
import { expected } from './refusals.ts';
import { PAUSE_MS, ScriptedService } from './scripted-service.ts';
import type { Stage } from './stage.ts';
import { type Life, policyOf, type Step, tell } from './steps.ts';
import { type RequestStep, writeRequest } from './write-request.ts';

/** How long the order has to become what the model says. */
const SETTLE_MS = 3_000;
const HANGS_MS = 8_000;

/** @throws Error with the life, the step and the differences, in words */
export async function live(stage: Stage, one: Life): Promise<void> {
  const order = await LivingOrder.start(stage, one);
  let at = 0;
  try {
    await order.check();
    for (const step of one.steps) {
      at += 1;
      await order.take(step);
      await order.check();
    }
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    throw new Error(`${error.message}\n\nafter step ${at} of\n${tell(one)}\n\n${order.story()}`, {
      cause: error,
    });
  } finally {
    order.end();
  }
}

class LivingOrder {
  readonly #stage: Stage;
  readonly #service: ScriptedService;
  readonly #handle: WorkflowHandle<typeof screenOrder>;
  readonly #startedAt: number;
  readonly #answers = new Map<string, unknown>();

  constructor(
    stage: Stage,
    service: ScriptedService,
    handle: WorkflowHandle<typeof screenOrder>,
    startedAt: number,
  ) {
    this.#stage = stage;
    this.#service = service;
    this.#handle = handle;
    this.#startedAt = startedAt;
  }

  static async start(stage: Stage, one: Life): Promise<LivingOrder> {
    const { environment, services } = stage;
    const integration = `integration-${randomUUID()}`;
    const orderId = `order-${randomUUID()}`;
    const service = new ScriptedService(policyOf(one), () => environment.currentTimeMs());
    services.set(integration, service);
    service.next = one.first;
    const startedAt = await environment.currentTimeMs();
    service.mood = one.mood;
    if (one.mood !== 'ok') await service.note({ kind: 'service', turns: one.mood });
    const startWorkflowOperation = new WithStartWorkflowOperation<typeof screenOrder>('screenOrder', {
      taskQueue: TASK_QUEUE,
      workflowId: orderWorkflowId(integration, orderId),
      workflowRunTimeout: '60 days',
      workflowIdConflictPolicy: 'USE_EXISTING',
      args: [{ orderId, integration, transaction: { ...aTransaction() }, fingerprint: 'f-1' }],
    });
    const answer = await environment.client.workflow.executeUpdateWithStart(decisionUpdate, {
      args: [{ attempt: 1 }],
      updateId: decisionUpdateId(1),
      startWorkflowOperation,
    });
    const order = new LivingOrder(stage, service, await startWorkflowOperation.workflowHandle(), startedAt);
    order.#answers.set('decision 1', answer);
    order.#expectAnswer(await order.model(), answer);
    return order;
  }

  async model(now?: number): Promise<Model> {
    const { policy, log } = this.#service;
    return fold(policy, this.#startedAt, log, now ?? (await this.#service.now()));
  }

  story(): string {
    const lines = this.#service.log.map((entry) => {
      const { at, ...rest } = entry;
      return `${((at - this.#startedAt) / 3_600_000).toFixed(4)} h ${JSON.stringify(rest)}`;
    });
    return ['the log:', ...lines, `events: ${this.#service.events.map((one) => one.type).join(' ')}`].join(
      '\n',
    );
  }

  /** Compares until nothing differs, or for three seconds. */
  async check(): Promise<void> {
    const { tally } = this.#stage;
    tally.steps += 1;
    const until = Date.now() + SETTLE_MS;
    for (;;) {
      const now = await this.#service.now();
      const model = await this.model(now);
      if (onTheEdge(model, now)) return;
      const [state, { status }] = await Promise.all([
        this.#handle.query(orderQuery),
        this.#handle.describe(),
      ]);
      const seen = { state, events: this.#service.events, completed: status.name === 'COMPLETED' };
      if (status.name === 'FAILED') throw new Error('the workflow has failed');
      const found = differences(model, seen, this.#service.log, now);
      if (found.length === 0) {
        const silences = Object.values(model.silence);
        if (silences.length === 0) tally.compared += 1;
        for (const why of new Set(silences)) tally.silent.set(why, (tally.silent.get(why) ?? 0) + 1);
        return;
      }
      if (Date.now() > until) {
        const { attempts: _, policy: __, hints: ___, ...short } = state;
        throw new Error(
          `${found.join('\n')}\n\nthe order: ${JSON.stringify(short)}\nthe model: ${show(model)}`,
        );
      }
      await sleep(20);
    }
  }

  /**
   * Lets the order come to its end by itself while later lives are lived. Terminated in the middle of a task it would
   * leave the server waiting for that task, and its clock would stand still.
   */
  end(): void {
    const service = this.#service;
    service.mood = 'ok';
    service.portalMood = 'ok';
    service.next = 'pass';
    for (const one of service.made) one.decision = 'pass';
  }

  async take(step: Step): Promise<void> {
    const service = this.#service;
    switch (step.do) {
      case 'wait':
        return this.#stage.environment.sleep(step.ms);
      case 'wait until':
        return this.#waitUntil(step.what);
      case 'service decides': {
        const made = service.newest();
        if (made) made.decision = step.decision;
        return;
      }
      case 'service turns':
        service.mood = step.to;
        await service.note({ kind: 'service', turns: step.to });
        // Back again: what is retried at pauses has its chance.
        if (step.to === 'ok') await this.#stage.environment.sleep(PAUSE_MS + MINUTE);
        return;
      case 'portal turns':
        service.portalMood = step.to;
        return;
      case 'next create':
        service.next = step.is;
        return;
      case 'hint':
        return this.#hint(step);
      case 'recheck':
        await service.note({ kind: 'recheck' });
        return this.#signal(() => this.#handle.signal(recheckSignal));
      case 'acknowledge': {
        const entry = await service.note({ kind: 'acknowledge' });
        const asked = await this.#ask('acknowledge', { reason: 'seen' });
        if (asked.is !== 'taken') entry.refused = true;
        return;
      }
      default:
        return this.#request(step);
    }
  }

  async #waitUntil(what: Extract<Step, { do: 'wait until' }>['what']): Promise<void> {
    const now = await this.#service.now();
    const model = await this.model(now);
    const at = momentOf(model, what);
    if (at !== undefined && at > now) await this.#stage.environment.sleep(at - now);
  }

  async #signal(send: () => Promise<void>): Promise<void> {
    await send().catch((error: unknown) => {
      if (!(error instanceof WorkflowNotFoundError)) throw error;
    });
  }

  async #hint(step: Extract<Step, { do: 'hint' }>): Promise<void> {
    const tx = { unnamed: undefined, newest: this.#service.newest()?.tx, another: randomUUID() }[step.tx];
    const hint = {
      source: 'webhook',
      receivedAt: new Date(this.#startedAt).toISOString(),
      decision: step.says,
      ...(tx && { transactionId: tx }),
    };
    await this.#service.note({ kind: 'hint', ...(tx && { tx }) });
    if (step.by === 'signal') return this.#signal(() => this.#handle.signal(reviewHintSignal, hint));
    // The validator may refuse it while one is unread or within a spacing: it is owed a reading all the same.
    const asked = await this.#ask('hint', hint);
    if (asked.is === 'refused' && asked.code !== 'hint-not-needed') throw new Error(`a hint: ${asked.code}`);
  }

  async #request(step: RequestStep): Promise<void> {
    const service = this.#service;
    const before = await this.model();
    const { message, request, args, updateId, key, entry } = writeRequest(step, before, service.log);
    const want = expected(before, request, await service.now());
    const portal = !['decision', 'retry', 'gateway-result'].includes(step.do);
    // Nobody can wait for an answer while the service is down and the clock stands still.
    const wait = !portal || service.mood === 'ok';
    if (!wait && (want === 'silent' || before.silence.phase)) return;
    const { requests } = this.#stage.tally;
    requests.set(`${step.do}: ${want}`, (requests.get(`${step.do}: ${want}`) ?? 0) + 1);
    const noted = entry && (await service.note(entry));
    const calls = () => service.log.filter((one) => one.kind === 'portal').length;
    const called = calls();
    if (!wait && (want === 'taken' || want === 'same')) {
      await this.#handle
        .startUpdate<unknown, [unknown]>(message, { args: [args], waitForStage: 'ACCEPTED' })
        .catch(() => undefined);
      return;
    }
    const asked = await this.#ask(message, args, updateId);
    if (noted && asked.is !== 'taken') {
      const tried =
        asked.is === 'refused' && ['refused-by-screening-service', 'outcome-unknown'].includes(asked.code);
      if (!tried) noted.refused = true;
    }
    const got = asked.is === 'refused' ? asked.code : asked.is;
    const told = `${JSON.stringify(request)}: the design says ${want}, the order ${got}`;
    if (asked.is === 'gone') {
      if (!['closed', 'canceled'].includes(before.phase) && !before.silence.phase) throw new Error(told);
      return;
    }
    if (want === 'silent') return;
    if (want === 'refused') {
      if (asked.is === 'taken') throw new Error(told);
    } else if (want === 'taken' || want === 'same') {
      const served = ['refused-by-screening-service', 'outcome-unknown'].includes(got);
      if (asked.is !== 'taken' && !(served && portal && calls() > called)) throw new Error(told);
    } else if (got !== want) throw new Error(told);
    if (asked.is !== 'taken' || key === undefined) return;
    const earlier = this.#answers.get(key);
    if (earlier !== undefined && JSON.stringify(earlier) !== JSON.stringify(asked.answer)) {
      throw new Error(
        `the same ${key} again, another answer:\n${JSON.stringify(earlier)}\n${JSON.stringify(asked.answer)}`,
      );
    }
    this.#answers.set(key, asked.answer);
    if (step.do === 'retry' && want === 'taken')
      this.#expectAnswer(await this.model(), asked.answer as CheckoutAnswer);
  }

  async #ask(message: string, args: Record<string, unknown>, updateId?: string): Promise<Asked> {
    const call = this.#handle
      .executeUpdate<unknown, [unknown]>(message, { args: [args], ...(updateId && { updateId }) })
      .then((answer): Asked => ({ is: 'taken', answer }), refusedOrGone);
    const hangs = sleep(HANGS_MS).then((): never => {
      throw new Error(`${message} has no answer after ${HANGS_MS} ms`);
    });
    return Promise.race([call, hangs]);
  }

  #expectAnswer(model: Model, answer: CheckoutAnswer): void {
    const want = current(model).answer;
    for (const field of ['decision', 'action', 'phase'] as const) {
      if (want?.[field] === undefined || want[field] === answer[field]) continue;
      if (field !== 'action' && model.silence[field]) continue;
      throw new Error(`the checkout’s ${field}: the design says ${want[field]}, the order ${answer[field]}`);
    }
  }
}

function show(model: Model): string {
  const { policy: _, done: __, causes, perhaps, ...rest } = model;
  return JSON.stringify({ ...rest, causes: [...causes], perhaps: [...perhaps] });
}
