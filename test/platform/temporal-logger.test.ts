import { ApplicationFailure, type WorkerDeploymentVersion } from '@temporalio/common';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { temporalLogger } from '../../src/platform/temporal-logger.ts';
import { ORDER_LOST } from '../../src/platform/workers-end.ts';
import { aLog, SECRET } from './a-log.ts';

function aLogger(...how: [version?: WorkerDeploymentVersion | undefined, onLost?: () => void]) {
  const { log, lines } = aLog();
  return { logger: temporalLogger(log, ...how), lines };
}

describe("the log of Temporal's SDK", () => {
  it('says which order and which activity, and why in one slug', () => {
    const { logger, lines } = aLogger();
    logger.warn('Activity failed', {
      workflowId: 'order:default:1',
      activityType: 'catchUp',
      attempt: 2,
      orderAttempt: 3,
      reason: 'unreachable',
      error: Object.assign(new Error(SECRET), { code: 'ECONNREFUSED' }),
    });
    expect(lines).toMatchObject([
      {
        level: 40,
        workflowId: 'order:default:1',
        activityType: 'catchUp',
        integration: 'default',
        orderId: '1',
        tries: 2,
        attempt: 3,
        reason: 'unreachable',
        err: { type: 'Error', code: 'ECONNREFUSED' },
        msg: 'Activity failed',
      },
    ]);
  });

  it('names no order where the line is about none, and takes an order id with colons whole', () => {
    const { logger, lines } = aLogger();
    logger.error('Worker failed', { workflowId: 'sweep-1' });
    logger.error('Worker failed', { workflowId: 'order:shop:A:1' });
    expect(lines[0]).not.toHaveProperty('orderId');
    expect(lines[1]).toMatchObject({ integration: 'shop', orderId: 'A:1' });
  });

  it("shows nothing of a workflow's input, of a failure, or of an error that is a text", () => {
    const { logger, lines } = aLogger();
    logger.error('an activity failed for good', { effect: 'read', error: SECRET, input: { email: SECRET } });
    logger.warn('Failing workflow task', {
      failure: `Failure { message: "${SECRET}" }`,
      workflowId: 'order:default:1',
    });
    logger.error(`Error while processing ActivityTask.start: ${SECRET}`, { task: SECRET });
    expect(lines).toHaveLength(3);
    expect(lines[0]).toMatchObject({ effect: 'read', err: { type: 'string' } });
  });

  const version9 = 'Failure { failure: Some(Failure { message: "This worker does not run version 9. Deploy';
  const unknown = ['Failing workflow task', { failure: version9 }] as const;
  const failing = (stack: string, cause = 'Unspecified') =>
    [
      'Failing workflow task',
      {
        runId: SECRET,
        failure: `Failure { failure: Some(Failure { message: "${SECRET}", source: "TypeScriptSDK", stack_trace: "${stack}", encoded_attributes: None, cause: None, failure_info: None }), force_cause: ${cause} }`,
      },
    ] as const;

  it.each<[what: string, line: readonly [string, object], reason: string]>([
    ['the class of what was thrown', failing(`/w.js:1\\n\\nTypeError: ${SECRET}\\n    at x`), 'TypeError'],
    ['why the SDK failed it', failing('', 'NonDeterministicError'), 'NonDeterministicError'],
    ['nothing it was not told', failing(`\\n\\n${SECRET}: x`), 'unknown'],
    ['that its rules are unknown', unknown, 'unknown-version'],
  ])('says of a workflow task that fails %s, and by which build', (_what, line, reason) => {
    const { logger, lines } = aLogger({ deploymentName: 'orders', buildId: 'v2' });
    logger.warn(...line);
    expect(lines).toMatchObject([
      { msg: 'this build can not run an order, its task is tried again', reason, buildId: 'v2' },
    ]);
  });

  it('tells, once the core has lost an order, that the process will stop', () => {
    const onLost = vi.fn();
    const { logger, lines } = aLogger(undefined, onLost);
    logger.error('Worker failed', {});
    expect(onLost).not.toHaveBeenCalled();
    logger.error(ORDER_LOST, { runId: SECRET });
    expect(onLost).toHaveBeenCalledOnce();
    expect(lines[1]).toMatchObject({ level: 50, msg: expect.stringContaining('must be restarted') });
  });

  it('calls an order failed only where it is', () => {
    const { logger, lines } = aLogger();
    logger.warn('Workflow failed', { error: new TypeError(SECRET) });
    logger.warn('Workflow failed', { error: ApplicationFailure.nonRetryable(SECRET, 'invalid-request') });
    expect(lines).toMatchObject([
      { msg: 'the code of an order threw an error, its task is tried again', err: { type: 'TypeError' } },
      { msg: 'Workflow failed', err: { reason: 'invalid-request' } },
    ]);
  });

  const retried = (call: string, tries: number, status = 'Unavailable') =>
    [
      `gRPC call ${call} retried ${tries} times`,
      {
        sdkComponent: 'core',
        error: `Status { code: ${status}, message: "${SECRET}", source: Some(tonic::transport::Error(Transport, ConnectError(ConnectError("tcp connect error", 127.0.0.1:7233, Os { code: 111, kind: ConnectionRefused, message: "Connection refused" })))) }`,
      },
    ] as const;

  it('says of a call that fails which it is, why and which try; of a heartbeat why, and that a step is slow', () => {
    const { logger, lines } = aLogger();
    logger.warn(...retried('poll_workflow_task_queue', 7));
    logger.warn(...retried('poll_workflow_task_queue', 1, 'PermissionDenied'));
    logger.warn(`Error when recording heartbeat: ${retried('x', 1)[1].error}`);
    logger.warn(`[TMPRL1104] ${SECRET}:16:1 Workflow task duration exceeded 5 seconds.`);
    expect(lines).toMatchObject([
      {
        msg: 'Temporal can not be reached, the call is tried again',
        call: 'poll_workflow_task_queue',
        tries: 7,
        err: { grpc: 'Unavailable', why: 'ConnectionRefused' },
      },
      { msg: 'Temporal refuses a call, it is tried again', err: { grpc: 'PermissionDenied' } },
      { err: { why: 'ConnectionRefused' } },
      { msg: 'a step of an order took over five seconds' },
    ]);
  });

  it('says the same once in ten seconds, and then how often it was', () => {
    vi.useFakeTimers({ toFake: ['performance'] });
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
  });

  it('says of two orders what is the same of both', () => {
    const { logger, lines } = aLogger();
    for (const id of ['1', '2', '1']) {
      logger.warn('Workflow task failed', { workflowId: `order:default:${id}`, error: new Error('x') });
    }
    expect(lines.map(({ orderId }) => orderId)).toEqual(['1', '2']);
  });
});
