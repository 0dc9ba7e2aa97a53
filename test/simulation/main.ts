/** `npm run simulate:orders -- --seed N --lives N --trouble KIND`: lives orders by the night, and tells the shortest life of each that goes wrong. */
import { parseArgs } from 'node:util';
import { keepMoments } from './fast-moments.ts';
import { simulate } from './simulate.ts';

const { values } = parseArgs({
  options: {
    seed: { type: 'string' },
    lives: { type: 'string' },
    trouble: { type: 'string', multiple: true },
  },
});
const seed = values.seed === undefined ? Date.now() % 1e9 : Number(values.seed);
const lives = values.lives === undefined ? 100_000 : Number(values.lives);
keepMoments();
const from = process.cpuUsage();
const { failed, inputs } = await simulate(seed, lives, values.trouble);
const { user, system } = process.cpuUsage(from);
for (const story of failed) console.log(`${story}\n`);
const seconds = (user + system) / 1e6;
console.log(
  `${lives} lives from seed ${seed}: ${failed.length} went wrong, ${(inputs / lives).toFixed(1)} inputs a life, ` +
    `${Math.round(lives / seconds)} lives in a second of a core`,
);
process.exitCode = failed.length > 0 ? 1 : 0;
