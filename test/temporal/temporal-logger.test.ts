import { describe, expect, it } from 'vitest';
import { createLog } from '../../src/process/log.ts';
import { temporalLogger } from '../../src/temporal/runtime.ts';

const SECRET = 'to-be-kept-out';

function aLogger() {
  const lines: Record<string, unknown>[] = [];
  const log = createLog('worker', 'debug', { write: (line) => void lines.push(JSON.parse(line)) });
  return { logger: temporalLogger(log), lines };
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
    expect(JSON.stringify(lines)).not.toContain(SECRET);
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
    logger.error('a portal action failed', { action: 'cancel', error: SECRET, input: { email: SECRET } });
    logger.warn('Failing workflow task', {
      failure: `Failure { message: "${SECRET}" }`,
      workflowId: 'order:default:1',
    });
    logger.error(`Error while processing ActivityTask.start: ${SECRET}`, { task: SECRET });
    expect(lines).toHaveLength(3);
    expect(lines[0]).toMatchObject({ action: 'cancel', err: { type: 'string' } });
    expect(JSON.stringify(lines)).not.toContain(SECRET);
  });
});
