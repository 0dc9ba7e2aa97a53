/** A real browser, and what tests ask of a page in it. The types of the page's own world aren't known here: see `ask`. */
import axe from 'axe-core';
import { type Browser, chromium, type Page } from 'playwright-core';
import { z } from 'zod';
import { type NeededProgram, needProgram } from './processes/debian-package.ts';

const CHROMIUM: NeededProgram = {
  commands: ['chromium', 'chromium-browser', 'google-chrome-stable', 'google-chrome'],
  debianPackages: ['chromium', 'fonts-dejavu-core'],
  howTo:
    'Chromium or Chrome (Debian: apt-get install chromium fonts-dejavu-core; macOS: brew install --cask chromium)',
};

/** How long it may take where the browser is installed first; in milliseconds. */
export const BROWSER_WITHIN_MS = 300_000;

/** Starts a browser without a window, after `needProgram`. @throws Error that says what to install */
export async function startBrowser(): Promise<Browser> {
  return chromium.launch({ executablePath: await needProgram(CHROMIUM) });
}

/** Presses Tab until what has that text is focused, as a person does. */
export async function tabTo(page: Page, text: string): Promise<void> {
  for (let presses = 0; presses < 60; presses += 1) {
    await page.keyboard.press('Tab');
    if ((await focused(page)) === text) return;
  }
  throw new Error(`"${text}" can't be reached by Tab`);
}

/** @returns the text of what is focused */
export const focused = async (page: Page): Promise<string> =>
  String(await page.evaluate('document.activeElement.textContent.trim()'));

const IMPACTS: readonly (string | null)[] = ['minor', 'moderate', 'serious', 'critical'];
const resultSchema = z.object({
  violations: z.array(
    z.object({
      id: z.string(),
      impact: z.string().nullable(),
      nodes: z.array(z.object({ target: z.array(z.unknown()) })),
    }),
  ),
});

/** @returns the faults of that impact or more that `axe` finds on a page, each with a selector for each place */
export async function accessFaults(
  page: Page,
  least: 'minor' | 'serious' = 'serious',
): Promise<{ rule: string; impact: string; at: string[] }[]> {
  await page.evaluate(axe.source);
  const { violations } = resultSchema.parse(await page.evaluate('axe.run(document)'));
  return violations
    .filter(({ impact }) => IMPACTS.indexOf(impact) >= IMPACTS.indexOf(least))
    .map(({ id, impact, nodes }) => ({
      rule: id,
      impact: String(impact),
      at: nodes.map(({ target }) => target.map(String).join(' ')),
    }));
}

/** @returns by how many pixels a page is wider than its window */
export async function overflow(page: Page): Promise<number> {
  const wider = await page.evaluate('document.documentElement.scrollWidth - innerWidth');
  return Math.max(0, z.number().parse(wider));
}

/** What a screenshot shows, in numbers: a blank page has one colour, and lightness is from 0 (black) to 1 (white). */
const number = z.number();
const pictureSchema = z.object({ width: number, height: number, colours: number, lightness: number });

/** @returns what a page's window shows now, looked at in a quarter of its size */
export async function picture(page: Page): Promise<z.infer<typeof pictureSchema>> {
  const shot = await page.screenshot();
  const desk = await page.context().newPage();
  try {
    return pictureSchema.parse(await desk.evaluate(LOOK.replace('PNG', shot.toString('base64'))));
  } finally {
    await desk.close();
  }
}

const LOOK = `(async () => {
  const image = new Image();
  image.src = 'data:image/png;base64,PNG';
  await image.decode();
  const { width, height } = image;
  const [across, down] = [Math.ceil(width / 4), Math.ceil(height / 4)];
  const canvas = Object.assign(document.createElement('canvas'), { width: across, height: down });
  const context = canvas.getContext('2d');
  context.drawImage(image, 0, 0, across, down);
  const bytes = context.getImageData(0, 0, across, down).data;
  const colours = new Set();
  let light = 0;
  for (let at = 0; at < bytes.length; at += 4) {
    const [red, green, blue] = [bytes[at], bytes[at + 1], bytes[at + 2]];
    colours.add((red << 16) + (green << 8) + blue);
    light += red + green + blue;
  }
  return { width, height, colours: colours.size, lightness: light / (255 * 3 * across * down) };
})()`;
