/** What happened to an order, in the order it happened: what callers asked, and what the service was asked and said. */
import type { Decision, GatewayResult, PortalActionKind } from '../../src/orders/words.ts';

export type ScreeningResult =
  | { is: 'answered'; tx: string; decision: Decision; adopted: boolean }
  | { is: 'skipped' | 'refused' | 'unanswered' | 'forbidden' };

export type StatusWord = Decision | 'unreadable' | 'unanswered' | 'forbidden';
export type PortalResult = 'done' | 'refused' | 'unconfirmed' | 'too-late' | 'forbidden' | 'unanswered';

export type Happening =
  | { kind: 'screened'; by: 'checkout' | 'retry' | 'catch-up'; result: ScreeningResult; lookedFirst: boolean }
  | { kind: 'looked-up'; found?: { tx: string; decision: Decision }; forbidden?: true }
  | { kind: 'read'; tx: string; got: StatusWord; by: 'read' | 'poll' }
  | {
      kind: 'portal';
      action: PortalActionKind;
      tx?: string;
      result: PortalResult;
      forced: boolean;
      subject: string;
    }
  | { kind: 'gateway-response'; tx: string; result: GatewayResult; taken: boolean }
  | { kind: 'service'; turns: 'ok' | 'down' | 'wrong-key' }
  | { kind: 'retry'; attempt: number }
  | { kind: 'gateway-result'; attempt: number; result: GatewayResult }
  | { kind: 'cancel'; tx?: string }
  | { kind: 'report-fraud' | 'recheck' | 'acknowledge' }
  | { kind: 'hint'; tx?: string };

/** `at` in milliseconds of the server's clock. A request that was refused changes nothing. */
export type Entry = Happening & { at: number; refused?: boolean };
