import { expect, it } from 'vitest';
import { codeBlocksOf, planOf } from './code-blocks.ts';

const page = `# A page

\`\`\`sh
echo one
\`\`\`

Words with \`code\` in them.

- in a list
  \`\`\`json
  {"two": 2}
  \`\`\`

And more:

    echo indented

\`\`\`
no tag
\`\`\`
`;
const blocks = codeBlocksOf('page.md', page);

it('finds every block with its tag and its line', () => {
  expect(blocks.map(({ line, language, text }) => [line, language, text])).toEqual([
    [3, 'sh', 'echo one'],
    [10, 'json', '{"two": 2}'],
    [16, '', 'echo indented'],
    [18, '', 'no tag'],
  ]);
});

it('names the blocks that are neither run nor listed', () => {
  const { run, faults } = planOf(blocks, ['sh'], [{ page: 'page.md', has: 'no tag', because: 'a test' }]);
  expect(run.map(({ text }) => text)).toEqual(['echo one']);
  expect(faults).toEqual([
    'page.md:10 (json) is neither run nor listed',
    'page.md:16 (no tag) is neither run nor listed',
  ]);
});

it('names what is listed and is not there', () => {
  const listed = { page: 'page.md', has: 'three', because: 'a test' };
  expect(planOf(blocks, ['sh', 'json', ''], [listed]).faults).toEqual([
    'page.md: no block has «three», which is listed as not run',
  ]);
});
