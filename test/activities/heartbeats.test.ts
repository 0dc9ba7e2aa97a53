import { MockActivityEnvironment } from '@temporalio/testing';
import { DefaultLogger } from '@temporalio/worker';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { withHeartbeats } from '../../src/activities/index.ts';
import { type HeartbeatDetails, sendHeartbeat } from '../../src/activities/tries.ts';

const QUARTER_MINUTE_MS = 15_000;

beforeEach(() => void vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] }));
afterEach(() => void vi.useRealTimers());

/** @returns what the server hears of an activity that lasts a quarter of a minute */
async function heard(told: HeartbeatDetails[], heartbeatDetails?: unknown, attempt = 2): Promise<unknown[]> {
  const heartbeats: unknown[] = [];
  const environment = new MockActivityEnvironment(
    { heartbeatDetails, attempt },
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

it('after a reset of the activity heartbeats keep what is known, without the numbers of tries that the server counts no more', async () => {
  const before = { reported: 1, asked: 1, late: 3, measured: 1, arrived: 7 };
  const [known, now] = [
    { arrived: 7, forgotten: 1 },
    { arrived: 8, forgotten: 1 },
  ];
  expect(await heard([], before, 1)).toEqual([known, known, known, known]);
  expect(await heard([{ arrived: 8 }], before, 1)).toEqual([known, now, now, now, now]);
  expect(await heard([{ arrived: 8 }], known)).toEqual([now, now, now, now]);
});
