/** What people who handle an order write on it: notes, an assignee, a snooze. Routes and commands are derived from this table. */
import { z } from 'zod';
import { momentSchema, reasonSchema, wordsSchema } from '../../contract/fields.ts';
import { NOTE_LIMIT } from '../../contract/words.ts';
import { actorSchema } from './portal-options.ts';

export const HANDLING = {
  note: {
    summary: "Add a note to the order's journal",
    schema: z.strictObject({ text: wordsSchema(NOTE_LIMIT).meta({ description: 'The note' }) }),
    example: { text: 'called the customer, no answer' },
  },
  assign: {
    summary: 'Assign the order to a person, or to nobody',
    schema: z.strictObject({
      assignee: actorSchema.nullable().meta({ description: 'The person who handles it; `null`: nobody' }),
    }),
    example: { assignee: 'ada@example.com' },
  },
  snooze: {
    summary: "Put the order's attention off, at most until the end of its cancel window",
    schema: z.strictObject({
      until: momentSchema.meta({ description: 'A future time, at most the end of the cancel window' }),
      note: reasonSchema.meta({ description: 'The reason, for the journal' }),
    }),
    example: { until: '2030-01-31T12:00:00Z', note: 'the customer calls back' },
  },
} as const;
export type Handling = keyof typeof HANDLING;
export const HANDLINGS = Object.keys(HANDLING) as Handling[];
export const handlingDefinition: (kind: Handling) => {
  summary: string;
  schema: z.ZodObject<Record<string, z.ZodType>>;
  example: Record<string, string>;
} = (kind) => HANDLING[kind];
