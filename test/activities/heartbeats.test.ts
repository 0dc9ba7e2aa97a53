import { MockActivityEnvironment } from '@temporalio/testing';
import { DefaultLogger } from '@temporalio/worker';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { withHeartbeats } from '../../src/activities/index.ts';
import { type HeartbeatDetails, sendHeartbeat } from '../../src/activities/tries.ts';

const QUARTER_MINUTE_MS = 15_000;

beforeEach(() => void vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] }));
afterEach(() => void vi.useRealTimers());

/** @returns what the server hears of an activity that lasts a quarter of a minute */
async function heard(told: HeartbeatDetails[], heartbeatDetails?: unknown): Promise<unknown[]> {
  const heartbeats: unknown[] = [];
  const environment = new MockActivityEnvironment(
    { heartbeatDetails },
    { logger: new DefaultLogger('ERROR'), interceptors: [withHeartbeats] },
  );
  environment.on('heartbeat', (details: unknown) => heartbeats.push(details));
  await environment.run(async () => {
    for (const details of told) sendHeartbeat(details);
    vi.advanceTimersByTime(QUARTER_MINUTE_MS);
  });
  vi.advanceTimersByTime(QUARTER_MINUTE_MS);
  return heartbeats;
}

it('heartbeats repeat what was told the next try, which the server would forget else', async () => {
  const [one, two] = [{ arrived: 1 }, { arrived: 2 }];
  expect(await heard([one, two])).toEqual([one, two, two, two, two]);
});

it('heartbeats repeat what the try before told, until this one tells more', async () => {
  const [before, now] = [{ arrived: 7 }, { arrived: 8 }];
  expect(await heard([], before)).toEqual([before, before, before]);
  expect(await heard([now], before)).toEqual([now, now, now, now]);
});
