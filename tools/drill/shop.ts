/** The order service of a drill: it places orders, and asks again as long as it has no decision. */
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import type { Stack } from './stack.ts';

/** Who buys. Nothing of it may be in a log. */
export const BUYER = {
  firstName: 'Marigold',
  lastName: 'Drillhammer',
  address: '9 Fire Escape',
  phoneNumber: '+1 217 555 0199',
  email: 'marigold.drillhammer@example.com',
  customerIP: '203.0.113.199',
  cardNumber: '4012888888881881',
} as const;

export interface Shop {
  /** Orders that were placed since the break, the oldest first. */
  readonly placed: readonly string[];
  /** Places an order. @returns its id and what the checkout was told */
  place(decision: 'pass' | 'review'): Promise<Told & { orderId: string }>;
  /** Asks for the order's decision by the same call, until there is one. @throws Error when none came in time */
  decisionOf(orderId: string, withinMs: number): Promise<string>;
  /** Reads an address of the API as the order service may. */
  get(path: string): Promise<{ status: number; body: unknown }>;
  /** Forgets the orders that were placed. */
  beginCounting(): void;
}

export interface Told {
  status: number;
  decision?: string;
  action?: string;
}

const ASK_EVERY_MS = 2_000;
const answer = z.looseObject({ decision: z.string().optional(), action: z.string().optional() });

export function createShop({ apiUrl, apiKey }: Pick<Stack, 'apiUrl' | 'apiKey'>): Shop {
  const headers = { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' };
  const run = Date.now().toString(36);
  const decisions = new Map<string, 'pass' | 'review'>();
  let placed: string[] = [];
  const get = async (path: string) => {
    const response = await fetch(`${apiUrl}${path}`, { headers });
    const text = await response.text();
    const isJson = response.headers.get('content-type')?.includes('json') === true;
    return { status: response.status, body: isJson ? (JSON.parse(text) as unknown) : text };
  };
  const checkout = async (orderId: string): Promise<Told> => {
    const transaction = transactionOf(decisions.get(orderId) ?? 'pass');
    const response = await fetch(`${apiUrl}/v1/orders/${orderId}/screening`, {
      method: 'POST',
      headers,
      body: JSON.stringify({ transaction }),
    });
    const { decision, action } = answer.parse(await response.json());
    return {
      status: response.status,
      ...(decision !== undefined && { decision }),
      ...(action !== undefined && { action }),
    };
  };
  return {
    get placed() {
      return placed;
    },
    beginCounting: () => {
      placed = [];
    },
    place: async (decision) => {
      const orderId = `drill-${run}-${decisions.size + 1}`;
      decisions.set(orderId, decision);
      placed.push(orderId);
      return { orderId, ...(await checkout(orderId)) };
    },
    decisionOf: async (orderId, withinMs) => {
      const deadline = Date.now() + withinMs;
      for (;;) {
        const { status, decision } = await checkout(orderId);
        if (status === 200 && decision !== undefined) return decision;
        if (Date.now() > deadline) throw new Error(`Order ${orderId} has no decision: HTTP ${status}.`);
        await sleep(ASK_EVERY_MS);
      }
    },
    get,
  };
}

/** The sandbox decides by the e-mail address. */
function transactionOf(decision: string) {
  const { firstName, lastName, address, phoneNumber, email, customerIP, cardNumber } = BUYER;
  const place = {
    firstName,
    lastName,
    address,
    city: 'Springfield',
    state: 'IL',
    zip: '62701',
    country: 'US',
  };
  return {
    amount: '129.00',
    customerIP,
    customer: { email: `${decision}+${email}` },
    payment: {
      creditCard: { cardType: 'Visa', cardNumber, expirationDate: '11/2037', last4: cardNumber.slice(-4) },
    },
    billTo: { ...place, phoneNumber },
    shipTo: place,
    avsResultCode: 'Y',
    cvvResultCode: 'M',
  };
}
