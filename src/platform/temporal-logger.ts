/** The log lines of the SDK in our log, without what quotes input. */
import type { WorkerDeploymentVersion } from '@temporalio/common';
import { DefaultLogger, type Logger } from '@temporalio/worker';
import { orderOfWorkflowId } from '../contract/ids.ts';
import { type Log, TEMPORAL_UNREACHABLE } from './log.ts';
import { ORDER_LOST } from './workers-end.ts';

/** Prefix of the core's message about a failed heartbeat. The error follows. */
const HEARTBEAT = 'Error when recording heartbeat: ';

/** The core's message about a failed call, which it retries automatically. */
const RETRIED = /^gRPC call (\w{1,64}) retried (\d{1,9}) times$/;
const UNREACHABLE = /^Status \{ code: (?:Unavailable|DeadlineExceeded|Cancelled|Unknown),/;

/** Replacements, by prefix, for SDK messages that are confusing or quote input. */
const WORDS: readonly [begin: string, words: string][] = [
  ['Failing workflow task', 'this build can not run an order, its task is tried again'],
  [ORDER_LOST, 'an order is lost to this process, which stops in a minute and must be restarted'],
  [HEARTBEAT, 'an activity heartbeat failed, it is sent again'],
  // Includes waiting for the completion, so Temporal may be unreachable, or the machine busy.
  ['[TMPRL1104] ', 'a step of an order took over five seconds'],
];

/** Returns the log message. The SDK also reports `Workflow failed` when the code threw an error, which fails only the task. */
function wordsOf(message: string, error: unknown): string {
  if (RETRIED.test(message)) {
    return UNREACHABLE.test(String(error))
      ? TEMPORAL_UNREACHABLE
      : 'Temporal refuses a call, it is tried again';
  }
  // The error comes from the workflow's own realm, so `instanceof Error` doesn't work.
  const { name } = (error ?? {}) as { name?: unknown };
  if (message === 'Workflow failed' && !String(name).endsWith('Failure')) {
    return 'the code of an order threw an error, its task is tried again';
  }
  return WORDS.find(([begin]) => message.startsWith(begin))?.[1] ?? message;
}

/**
 * Sends the SDK's log lines to our log, with the order that each belongs to.
 *
 * @param version of this process's workers; absent for unversioned workers
 * @param onOrderLost called when the core reports a lost order
 */
export function temporalLogger(
  log: Log,
  version?: WorkerDeploymentVersion,
  onOrderLost: () => void = () => undefined,
): Logger {
  return new DefaultLogger('INFO', ({ level, message, meta }) => {
    if (message === ORDER_LOST) onOrderLost();
    const { workflowId, workflowType, activityType, attempt, orderAttempt, taskQueue, error } = { ...meta };
    const { effect, reason, integration, call, status, address, failure } = { ...meta };
    const [, failedCall, retries] = RETRIED.exec(message) ?? [];
    const cannotRun = message === 'Failing workflow task';
    const expected = message.startsWith('No workflows registered');
    const severity = level === 'ERROR' ? 'error' : level === 'WARN' && !expected ? 'warn' : 'debug';
    const fields = {
      integration,
      ...orderOfWorkflowId(String(workflowId)),
      workflowId,
      workflowType,
      activityType,
      attempt: orderAttempt,
      tries: retries === undefined ? attempt : Number(retries),
      call: failedCall ?? call,
      status,
      address,
      taskQueue,
      effect,
      reason: cannotRun ? whyFailing(String(failure)) : reason,
      ...(cannotRun && version),
      err: message.startsWith(HEARTBEAT) ? message.slice(HEARTBEAT.length) : error,
    };
    log.foreign(severity, fields, wordsOf(message, error));
  });
}

/** Patterns that extract why a task failed from the core's text, which also quotes the error's message. */
const FORCED_BY = /, force_cause: (\w{1,64}) \}$/;
const UNKNOWN_VERSION = /^Failure \{ failure: Some\(Failure \{ message: "This worker does not run version /;
const THROWN = /\\n\\n((?:Type|Range|Reference|Syntax|Eval|URI)?Error)\b/;

function whyFailing(failure: string): string {
  const [, cause = 'Unspecified'] = FORCED_BY.exec(failure) ?? [];
  if (cause !== 'Unspecified') return cause;
  if (UNKNOWN_VERSION.test(failure)) return 'unknown-version';
  return THROWN.exec(failure)?.[1] ?? 'unknown';
}
