/** What the order service asked of the order, and what it was told. */
import type { CheckoutAnswer, GatewayResultAnswer, PortalAnswer } from '../../src/contract/answers.ts';
import type { PortalFields } from '../../src/contract/messages.ts';
import type { Request } from '../../src/order/order.ts';
import type { Books } from './books.ts';

/** What the judge reads of an answer to a checkout. */
export type BookedCheckoutAnswer = Pick<
  CheckoutAnswer,
  'attempt' | 'decision' | 'action' | 'transactionId' | 'wouldBe' | 'reason'
>;

/** What the order service asked, when, and what it was told then; neither an answer nor a refusal: nobody answered. */
export type BookedCall = Request & {
  sentAt: number;
  /** When it was sent first, under the same idempotency key: a repeat wishes nothing new. */
  wishedAt?: number;
  at: number;
  refusal?: string | undefined;
  checkout?: BookedCheckoutAnswer | undefined;
  gateway?: Pick<GatewayResultAnswer, 'result'> | undefined;
  portal?: Pick<PortalAnswer, 'status' | 'transactionId'> | undefined;
  /** How many attentions an acknowledgement took away. */
  cleared?: number;
};

/** @returns the answers to an attempt's checkout, oldest first */
export function answersTo(
  { calls }: Books,
  attempt: number,
): { at: number; sentAt: number; answer: BookedCheckoutAnswer }[] {
  return calls
    .flatMap(({ at, sentAt, checkout }) =>
      checkout?.attempt === attempt ? [{ at, sentAt, answer: checkout }] : [],
    )
    .sort((a, b) => a.at - b.at);
}

/** @returns the attempt whose checkout a call asks for, if it asks for one */
export function attemptAsked(call: BookedCall): number | undefined {
  if (call.kind === 'adopt') return 1;
  return call.kind === 'decision' || call.kind === 'retry' ? call.request.attempt : undefined;
}

/** @returns the first call for an attempt's checkout */
export function firstFor({ calls }: Books, attempt: number): BookedCall | undefined {
  return calls.find((one) => attemptAsked(one) === attempt);
}

/** @returns whether a person decided about the order */
export function isOverride({ kind, refusal }: BookedCall): boolean {
  return kind === 'override' && refusal === undefined;
}

/**
 * @returns each result of the payment gateway that the order accepted, once and oldest first: reporting it again is answered as the first time,
 * and changes nothing
 */
export function reportsOf({ calls }: Books) {
  return calls
    .flatMap(({ kind, request, gateway, sentAt, at }) => {
      if (kind !== 'gateway-result' || gateway?.result !== request.result) return [];
      const { attempt = 1, result } = request;
      return [{ attempt, result, sentAt, at }];
    })
    .sort((a, b) => a.at - b.at)
    .filter(
      ({ attempt, result }, index, all) =>
        all.findIndex((one) => one.attempt === attempt && one.result === result) === index,
    );
}

/** @returns whether the payment is declined: nothing is read or canceled from then on unless somebody asks */
export function isDeclined({ kind, request, gateway, checkout }: BookedCall): boolean {
  const failed = kind === 'gateway-result' && request.result === 'fail' && gateway?.result === 'fail';
  return failed || checkout?.action === 'decline';
}

/** @returns the portal action that a call asks for, if it asks for one */
export function portalAsked(call: BookedCall): PortalFields | undefined {
  return call.kind === 'portal' ? call.request.fields : undefined;
}
