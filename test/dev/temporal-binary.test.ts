import { expect, test } from 'vitest';
import {
  findTemporalBinary,
  type TemporalStep,
  type TemporalSteps,
} from '../../src/dev/embedded-temporal.ts';
import { quiet } from './quiet-progress.ts';

type Way = keyof TemporalSteps;

const CLOSED: Record<Way, string | Error> = {
  path: new Error('not found'),
  builtBefore: new Error('not built yet'),
  sdkDownload: new Error('the download site cannot be reached'),
  goBuild: new Error('Go is not installed'),
};

/** Steps that note that they were tried, and find the binary or say why not. */
function steps(outcomes: Record<Way, string | Error>): { tried: Way[]; steps: TemporalSteps } {
  const tried: Way[] = [];
  const step =
    (way: Way): TemporalStep =>
    async () => {
      tried.push(way);
      const outcome = outcomes[way];
      if (outcome instanceof Error) throw outcome;
      return outcome;
    };
  return {
    tried,
    steps: {
      path: step('path'),
      builtBefore: step('builtBefore'),
      sdkDownload: step('sdkDownload'),
      goBuild: step('goBuild'),
    },
  };
}

const WAYS: Way[] = ['path', 'builtBefore', 'sdkDownload', 'goBuild'];

test.each(WAYS)(
  '%s is taken where it is the first that is open, and no later one is tried',
  async (first) => {
    const last = WAYS.indexOf(first);
    const open = Object.fromEntries(WAYS.slice(last).map((way) => [way, `/${way}`]));
    const { tried, steps: given } = steps({ ...CLOSED, ...open });

    expect(await findTemporalBinary({ steps: given, progress: quiet })).toBe(`/${first}`);
    expect(tried).toEqual(WAYS.slice(0, last + 1));
  },
);

test('when every way is closed the error names all four, why each is, and what to do', async () => {
  const { steps: given } = steps(CLOSED);

  await expect(findTemporalBinary({ steps: given, progress: quiet })).rejects.toThrow(
    [
      'No Temporal server was found. Any one of these is enough:',
      '  1. TEMPORAL_ADDRESS (or a Temporal profile): not set. Set it to the address of a running server, host:port.',
      '  2. temporal on PATH: not found. Install the Temporal CLI: https://docs.temporal.io/cli',
      "  3. The Temporal SDK's download: the download site cannot be reached. Allow access to https://temporal.download",
      '  4. A build from tools/temporal with Go: Go is not installed. Install Go: https://go.dev/dl',
    ].join('\n'),
  );
});
