import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ApplicationFailure } from '@temporalio/common';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { createLog } from '../../src/process/log.ts';
import { LostOrderError, ORDER_LOST, temporalLogger, untilEndedOrLost } from '../../src/temporal/runtime.ts';

const SECRET = 'to-be-kept-out';

function aLogger(...rest: RestOfLogger) {
  const lines: Record<string, unknown>[] = [];
  const log = createLog('worker', 'debug', { write: (line) => void lines.push(JSON.parse(line)) });
  onTestFinished(() => expect(JSON.stringify(lines)).not.toContain(SECRET));
  return { logger: temporalLogger(log, ...rest), lines };
}

type RestOfLogger = Parameters<typeof temporalLogger> extends [unknown, ...infer Rest] ? Rest : never;

/** The core's line about a call that it makes again. */
const retried = (call: string, tries: number, status = 'Unavailable') =>
  [
    `gRPC call ${call} retried ${tries} times`,
    {
      sdkComponent: 'core',
      error: `Status { code: ${status}, message: "${SECRET}", source: Some(tonic::transport::Error(Transport, ConnectError(ConnectError("tcp connect error", 127.0.0.1:7233, Os { code: 111, kind: ConnectionRefused, message: "Connection refused" })))) }`,
    },
  ] as const;

/** The core's line about a workflow task that fails. */
const failing = (stack: string, cause = 'Unspecified') => ({
  runId: SECRET,
  failure: `Failure { failure: Some(Failure { message: "${SECRET}", source: "TypeScriptSDK", stack_trace: "${stack}", encoded_attributes: None, cause: None, failure_info: None }), force_cause: ${cause} }`,
});
const UNREADABLE =
  'Failure { failure: Some(Failure { message: "This worker does not run version 9. Deploy a re';

describe("the log of Temporal's SDK", () => {
  it('says which order and which activity, and why in one slug', () => {
    const { logger, lines } = aLogger();
    const workflowId = 'order:shop:A:1';
    const error = Object.assign(new Error(SECRET), { code: 'ECONNREFUSED' });
    const activity = { workflowId, activityType: 'catchUp', reason: 'unreachable' };
    logger.warn('Activity failed', { ...activity, attempt: 2, orderAttempt: 3, error });
    logger.error('Worker failed', { workflowId: 'sweep-1' });
    const err = { type: 'Error', code: 'ECONNREFUSED' };
    const order = { integration: 'shop', orderId: 'A:1' };
    const msg = 'Activity failed';
    expect(lines).toMatchObject([{ level: 40, msg, ...activity, ...order, tries: 2, attempt: 3, err }, {}]);
    expect(lines[1]).not.toHaveProperty('orderId');
  });

  const noAnswer = { why: 'ConnectionRefused', address: '127.0.0.1:7233' };
  const TASK = 'Failing workflow task';
  const CANNOT_RUN = 'this build can not run';
  const POLL = 'poll_workflow_task_queue';
  const refusal = ApplicationFailure.nonRetryable(SECRET, 'invalid-request');
  const unreached = { call: POLL, tries: 7, err: { grpc: 'Unavailable', ...noAnswer } };
  it.each<[message: string, meta: object, words: string, shown?: object]>([
    [
      'an effect failed',
      { effect: 'read', error: SECRET, input: SECRET },
      'an effect failed',
      { effect: 'read' },
    ],
    [`Error while processing ActivityTask.start: ${SECRET}`, { task: SECRET }, 'its words are left out'],
    [TASK, failing('/w\\n\\nTypeError: x\\n    at x'), CANNOT_RUN, { reason: 'TypeError', buildId: 'v2' }],
    [TASK, failing('', 'NonDeterministicError'), CANNOT_RUN, { reason: 'NonDeterministicError' }],
    [TASK, failing(`\\n\\n${SECRET}: x`), CANNOT_RUN, { reason: 'unknown' }],
    [TASK, { failure: UNREADABLE }, CANNOT_RUN, { reason: 'unknown-version' }],
    [`Error when recording heartbeat: ${retried('x', 1)[1].error}`, {}, 'heartbeat', { err: noAnswer }],
    ['Workflow failed', { error: new TypeError(SECRET) }, 'code of an order', { err: { type: 'TypeError' } }],
    ['Workflow failed', { error: refusal }, 'Workflow failed', { err: { reason: 'invalid-request' } }],
    [`[TMPRL1104] ${SECRET}:16:1 Workflow task duration exceeded 5 seconds.`, {}, 'took over five seconds'],
    [...retried(POLL, 7), 'Temporal can not be reached', unreached],
    [...retried(POLL, 1, 'PermissionDenied'), 'refuses a call', { err: { grpc: 'PermissionDenied' } }],
  ])('says instead of «%s» with %j only «%s» and %j', (message, meta, words, shown = {}) => {
    const { logger, lines } = aLogger({ deploymentName: 'orders', buildId: 'v2' });
    logger.warn(message, { ...meta });
    expect(lines).toMatchObject([{ msg: expect.stringContaining(words), ...shown }]);
  });

  it('tells, once the core has lost an order, that the process will stop', async () => {
    const onLost = vi.fn();
    const { logger, lines } = aLogger(undefined, onLost);
    logger.error('Worker failed', {});
    expect(onLost).not.toHaveBeenCalled();
    logger.error(ORDER_LOST, { runId: SECRET });
    expect(onLost).toHaveBeenCalledOnce();
    expect(lines[1]).toMatchObject({ level: 50, msg: expect.stringContaining('must be restarted') });
    const core = '@temporalio/core-bridge/sdk-core/crates/sdk-core/src/worker/workflow/workflow_stream.rs';
    const source = await readFile(join('node_modules', core), 'utf8');
    // Where the words are gone, the fault may be, too: then all of `untilEndedOrLost` goes.
    expect(source).toContain(`dbg_panic!("${ORDER_LOST}")`);
  });

  it('says the same once in ten seconds, also of two orders, and then how often it was', () => {
    vi.useFakeTimers({ toFake: ['Date'] });
    onTestFinished(() => void vi.useRealTimers());
    const { logger, lines } = aLogger();
    for (let tries = 1; tries <= 20; tries += 1) {
      logger.warn(...retried('poll_workflow_task_queue', tries));
      logger.warn(...retried('poll_activity_task_queue', tries));
      vi.advanceTimersByTime(1_000);
    }
    expect(lines.map(({ call, tries, repeats }) => [call, tries, repeats])).toEqual([
      ['poll_workflow_task_queue', 1, undefined],
      ['poll_activity_task_queue', 1, undefined],
      ['poll_workflow_task_queue', 11, 9],
      ['poll_activity_task_queue', 11, 9],
    ]);
    for (const id of ['1', '2', '1']) {
      logger.warn('Workflow task failed', { workflowId: `order:default:${id}`, error: new Error('x') });
    }
    expect(lines.slice(4).map(({ orderId }) => orderId)).toEqual(['1', '2']);
  });
});

describe('a process', () => {
  const never = new Promise<void>(() => undefined);
  const HOUR = 3_600_000;
  const { signal: running } = new AbortController();
  const ended = (
    until: Promise<void>,
    lost: AbortSignal,
    { stopping = running, stop = vi.fn(), graceMs = 0, togetherMs = 0 } = {},
  ) => untilEndedOrLost(until, { stop, stopping, graceMs }, { lost, togetherMs });

  it.each([50, 0])(
    'that lost an order %i ms after its start goes on for a while, lets what runs finish, and ends',
    async (afterMs) => {
      const lost = afterMs === 0 ? AbortSignal.abort() : AbortSignal.timeout(afterMs);
      let lostAt = performance.now();
      lost.addEventListener('abort', () => {
        lostAt = performance.now();
      });
      let stoppedAt = 0;
      const stop = vi.fn(() => {
        stoppedAt = performance.now();
      });
      await expect(ended(never, lost, { stop, graceMs: 100, togetherMs: 200 })).rejects.toThrow(
        LostOrderError,
      );
      // Node rounds the time of its timers.
      expect(stoppedAt - lostAt).toBeGreaterThan(195);
      expect(performance.now() - stoppedAt).toBeGreaterThan(95);
    },
  );

  it('that lost an order ends so at once when its workers end, and waits for no others when it is to end', async () => {
    const lost = AbortSignal.abort();
    const waits = { graceMs: HOUR, togetherMs: HOUR };
    await expect(ended(Promise.resolve(), lost, waits)).rejects.toThrow(LostOrderError);
    const stopping = AbortSignal.abort();
    await expect(ended(never, lost, { togetherMs: HOUR, stopping })).rejects.toThrow(LostOrderError);
  });

  it('that has lost none ends as its workers do', async () => {
    await expect(ended(Promise.resolve(), running)).resolves.toBeUndefined();
    await expect(ended(Promise.reject(new Error('broken')), running)).rejects.toThrow('broken');
  });
});
