/** The order service's receiver of events, and what came to it. */
import type { RequestInit } from 'node-fetch';
import type { OrderEvent } from '../../../src/contract/messages.ts';
import type { Agenda } from './agenda.ts';
import { response } from './http.ts';
import type { Process } from './process.ts';
import type { Server, Told } from './virtual-machine.ts';

const TRAVELS_MS = 3;

export class Receiver implements Server {
  readonly arrived: { event: OrderEvent; at: number; taken: boolean }[] = [];
  readonly #agenda: Agenda;

  constructor(agenda: Agenda) {
    this.#agenda = agenda;
  }

  send(_url: string, { body, headers }: RequestInit, process: Process, told: Told): { giveUp(): void } {
    const payload: Omit<OrderEvent, 'id'> = JSON.parse(String(body));
    const event = { id: idIn(headers), ...payload };
    this.#agenda.at(process.now + TRAVELS_MS, () => {
      if (process.isDead) return;
      const taken = !this.#agenda.isIn('receiver-down');
      this.arrived.push({ event, at: this.#agenda.now, taken });
      process.run(() => told(response(taken ? 204 : 503, '')));
    });
    return { giveUp: () => undefined };
  }
}

function idIn(headers: RequestInit['headers']): string {
  if (typeof headers !== 'object' || !('webhook-id' in headers))
    throw new TypeError('an event without an id');
  return String(headers['webhook-id']);
}
