import { expect, it } from 'vitest';
import { screened } from './life.ts';
import { answered, MINUTE } from './support.ts';

it('a person’s cancel joins one that a caller asked for while the order was screened', () => {
  const life = screened('fail', { workflow: 'pre-acceptance' });
  life.ask({ kind: 'retry', request: { attempt: 2, transaction: {} } }, MINUTE);
  life.ask({ kind: 'portal', fields: { kind: 'cancel' } }, MINUTE);
  life.ask({ kind: 'override', request: { action: 'cancel', reason: 'by hand' } }, MINUTE);
  life.end({ kind: 'retry-screening', outcome: answered('pass', 't-2') }, MINUTE);
  expect(life.order.state.actions.filter(({ kind }) => kind === 'cancel')).toHaveLength(1);
});
