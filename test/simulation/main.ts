/** `npm run simulate:orders -- --seed N --lives N`: lives orders, and prints the shortest story of each that goes wrong. */
import { parseArgs } from 'node:util';
import { keepMoments } from './fast-moments.ts';
import { simulate } from './simulate.ts';

const { values } = parseArgs({
  options: {
    seed: { type: 'string', default: String(Date.now() % 1e9) },
    lives: { type: 'string', default: '100000' },
  },
});
const [seed, lives] = [Number(values.seed), Number(values.lives)];
keepMoments();
const failed = await simulate(seed, lives);
for (const story of failed) console.log(`${story}\n`);
console.log(`${lives} lives from seed ${seed}: ${failed.length} went wrong`);
process.exitCode = failed.length > 0 ? 1 : 0;
