#!/usr/bin/env node
// The sources are TypeScript; nothing is built first.
import './typescript.mjs';

await import('../src/cli.ts');
