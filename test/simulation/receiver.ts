/** The order service's receiver of events, and what came to it. */
import type { RequestInit } from 'node-fetch';
import type { OrderEvent } from '../../src/contract/messages.ts';
import type { BookedArrival } from '../books/books.ts';
import { Response } from './http.ts';
import type { Process } from './process.ts';
import type { Server, Told } from './virtual-machine.ts';
import type { World } from './world.ts';

const TRAVELS_MS = 3;

export class Receiver implements Server {
  readonly arrived: BookedArrival[] = [];
  readonly #world: World;

  constructor(world: World) {
    this.#world = world;
  }

  send(_url: string, { body, headers }: RequestInit, process: Process, told: Told): { giveUp(): void } {
    const payload: Omit<OrderEvent, 'id'> = JSON.parse(String(body));
    const event = { id: idIn(headers), ...payload };
    const { agenda } = this.#world;
    agenda.at(process.now + TRAVELS_MS, () => {
      if (process.isDead) return;
      const taken = !this.#world.has('receiver-down');
      this.arrived.push({ event, at: agenda.now, taken });
      process.run(() => told(new Response(taken ? 204 : 503, '')));
    });
    return { giveUp: () => undefined };
  }
}

function idIn(headers: RequestInit['headers']): string {
  if (typeof headers !== 'object' || !('webhook-id' in headers))
    throw new TypeError('an event without an id');
  return String(headers['webhook-id']);
}
