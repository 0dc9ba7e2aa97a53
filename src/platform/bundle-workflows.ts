/** Bundles the workflows when an image is built, since its workers can't write to the cache. They also start faster. */
import { randomBytes } from 'node:crypto';
import { createDataConverter } from '../codec/index.ts';
import { workflowBundle } from './workflow-bundle.ts';

await workflowBundle();
// The key doesn't matter: with encryption, the bundle differs only in its failure converter.
await workflowBundle(createDataConverter([{ id: 'any', key: randomBytes(32) }]));
