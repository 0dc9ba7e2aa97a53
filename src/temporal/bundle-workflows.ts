/** Bundles the workflows ahead, when an image is built: its workers may not write beside the code, and start at once. */
import { randomBytes } from 'node:crypto';
import { createDataConverter } from '../codec/index.ts';
import { workflowBundle } from './workflow-bundle.ts';

await workflowBundle();
// Any key will do: what is bundled for workers that encrypt is the way in which they write failures.
await workflowBundle(createDataConverter([{ id: 'any', key: randomBytes(32) }]));
