import { expect, test } from 'vitest';
import { findTemporalBinary, type TemporalSource, type TemporalStep } from '../../src/dev/temporal-binary.ts';
import { quiet } from './quiet-progress.ts';

/** Steps that note that they were tried, and find the binary or say why not. */
function steps(outcomes: Record<TemporalSource, string | Error>) {
  const tried: TemporalSource[] = [];
  const step =
    (source: TemporalSource): TemporalStep =>
    async () => {
      tried.push(source);
      const outcome = outcomes[source];
      if (outcome instanceof Error) throw outcome;
      return outcome;
    };
  return {
    tried,
    steps: { path: step('path'), 'sdk-download': step('sdk-download'), 'go-build': step('go-build') },
  };
}

const closed = {
  path: new Error('not found'),
  'sdk-download': new Error('the download site cannot be reached'),
  'go-build': new Error('Go is not installed'),
};

test('temporal on PATH is taken first, and nothing is downloaded or built', async () => {
  const { tried, steps: given } = steps({ path: 'temporal', 'sdk-download': '/sdk', 'go-build': '/go' });

  expect(await findTemporalBinary({ steps: given, progress: quiet })).toEqual({
    path: 'temporal',
    source: 'path',
  });
  expect(tried).toEqual(['path']);
});

test("without one on PATH the SDK's download is taken, and nothing is built", async () => {
  const { tried, steps: given } = steps({ ...closed, 'sdk-download': '/sdk', 'go-build': '/go' });

  expect(await findTemporalBinary({ steps: given, progress: quiet })).toEqual({
    path: '/sdk',
    source: 'sdk-download',
  });
  expect(tried).toEqual(['path', 'sdk-download']);
});

test('without a download the server is built', async () => {
  const { tried, steps: given } = steps({ ...closed, 'go-build': '/go' });

  expect(await findTemporalBinary({ steps: given, progress: quiet })).toEqual({
    path: '/go',
    source: 'go-build',
  });
  expect(tried).toEqual(['path', 'sdk-download', 'go-build']);
});

test('when every way is closed the error names all four, why each is, and what to do', async () => {
  const { steps: given } = steps(closed);

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
