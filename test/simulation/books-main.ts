/** Judges many lives by their books, and tells how often each kind of finding was made and which life showed it first. */
import { parseArgs } from 'node:util';
import { judgeBooks } from '../books/judge.ts';
import { booksOf } from './books-of.ts';
import { keepMoments } from './fast-moments.ts';
import { OrderWorld } from './order-world.ts';
import { planLife } from './plan-life.ts';
import { RULES } from './rules.ts';

const { values } = parseArgs({
  options: {
    seed: { type: 'string', default: '1' },
    lives: { type: 'string', default: '10000' },
    show: { type: 'string', default: '3' },
  },
});
keepMoments();
const found = new Map<string, { lives: number; first: string[] }>();
const from = Number(values.seed);
const until = from + Number(values.lives);
let wrong = 0;
for (let seed = from; seed < until; seed += 1) {
  const orderWorld = new OrderWorld(planLife(seed), RULES);
  try {
    await orderWorld.live();
  } catch (error) {
    note('threw', seed, error instanceof Error ? error.message : String(error));
    continue;
  }
  for (const fault of orderWorld.world.faults)
    note(`invariant: ${fault.replace(/\d+/g, 'N').slice(0, 50)}`, seed, fault);
  const { order } = orderWorld.run;
  if (order === undefined || order.refused !== undefined) continue;
  const findings = judgeBooks(booksOf(orderWorld, order.state));
  if (findings.length > 0) wrong += 1;
  const kinds = new Set<string>();
  for (const { kind, facts } of findings) {
    if (kinds.has(kind)) continue;
    kinds.add(kind);
    note(kind, seed, facts);
  }
}
for (const [kind, { lives, first }] of [...found].sort((a, b) => b[1].lives - a[1].lives)) {
  console.log(`${lives}\t${kind}`);
  for (const line of first) console.log(`\t${line}`);
}
console.log(`${wrong} of ${until - from} lives`);

function note(kind: string, seed: number, facts: string): void {
  const known = found.get(kind) ?? { lives: 0, first: [] };
  known.lives += 1;
  if (known.first.length < Number(values.show)) known.first.push(`${seed} ${facts}`);
  found.set(kind, known);
}
