import { readFile } from 'node:fs/promises';
import { text } from 'node:stream/consumers';
import { z } from 'zod';
import { UsageError } from './exit-codes.ts';

const jsonObject = z.record(z.string(), z.unknown());

/**
 * Reads one JSON object.
 * @param file its path; `-` or none is standard input
 * @throws UsageError, which shows nothing of the content
 */
export async function readJsonObject(file: string | undefined): Promise<Record<string, unknown>> {
  const fromStdin = file === undefined || file === '-';
  if (fromStdin && process.stdin.isTTY) {
    throw new UsageError('Name a file with the order as JSON, or send it to standard input');
  }
  const content = fromStdin ? await text(process.stdin) : await read(file);
  const parsed = jsonObject.safeParse(parse(content));
  if (parsed.success) return parsed.data;
  throw new UsageError(`${fromStdin ? 'Standard input' : 'The file'} must be one JSON object in UTF-8`);
}

async function read(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? ` (${String(error.code)})` : '';
    throw new UsageError('The input is missing', [{ path: '<file>', message: `can't be read${code}` }]);
  }
}

function parse(content: string): unknown {
  try {
    return JSON.parse(content);
  } catch {
    // The parser's own words would quote the content.
    return undefined;
  }
}
