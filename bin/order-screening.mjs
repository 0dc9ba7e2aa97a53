#!/usr/bin/env node
// The sources are TypeScript, which tsx runs; nothing is built first.
import { register } from 'tsx/esm/api';

register();
await import('../src/cli.ts');
