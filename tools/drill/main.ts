/** `npm run drill [name]`: lists the drills, or plays one. */
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { parseArgs } from 'node:util';
import { DRILLS } from './drills.ts';
import { play } from './play.ts';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { yes: { type: 'boolean', default: false }, json: { type: 'boolean', default: false } },
});
const [name] = positionals;
const drill = DRILLS.find((one) => one.name === name);
/** With `--json` standard output has the result alone. */
const say = (line: string): void => void (values.json ? process.stderr : process.stdout).write(`${line}\n`);

if (drill === undefined) {
  if (name !== undefined) say(`There is no drill «${name}».\n`);
  for (const { name: of, about } of DRILLS) say(`npm run drill ${of.padEnd(16)}${about}`);
  process.exitCode = name === undefined ? 0 : 2;
} else {
  const goesOnByItself = values.yes || values.json || !process.stdin.isTTY;
  try {
    const played = await play(drill, {
      env: process.env,
      say,
      untilMended: async () => {
        if (goesOnByItself) return;
        say('\nPress Enter when you would have done it, and it is mended.');
        const terminal = createInterface({ input: process.stdin });
        await once(terminal, 'line');
        terminal.close();
      },
    });
    if (values.json) process.stdout.write(`${JSON.stringify(played, undefined, 2)}\n`);
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : 'The drill could not be played.'}\n`);
    process.exitCode = 1;
  }
}
