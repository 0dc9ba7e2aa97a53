import { expect, it } from 'vitest';
import { checkPlaintext } from '../../src/cli/doctor/doctor-command.ts';

it('doctor keeps saying what may go in plain, and why', () => {
  const allowPlaintext = [
    { name: 'redis', reason: 'a mesh encrypts it' },
    { name: 'temporal', reason: 'one compose network' },
  ] as const;
  const found = checkPlaintext({ allowPlaintext: [...allowPlaintext] });
  expect(found).toMatchObject([
    { check: 'plaintext', status: 'warning', what: expect.stringMatching(/^redis .*a mesh encrypts it$/) },
    {
      check: 'plaintext',
      status: 'warning',
      what: expect.stringMatching(/^temporal .*one compose network$/),
    },
  ]);
  expect(checkPlaintext({ allowPlaintext: [] })).toEqual([]);
});
