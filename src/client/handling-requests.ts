/** Requests of the people who handle an order: a note, an assignment, a snooze. */
import { z } from 'zod';
import { reasonSchema, wordsSchema } from '../contract/fields.ts';
import { instant, millis, NOTE_LIMIT } from '../contract/words.ts';
import { actorSchema } from './portal-options.ts';

export const noteSchema = z.strictObject({
  text: wordsSchema(NOTE_LIMIT).meta({ description: "The note; it is recorded in the order's journal" }),
});

export const assignSchema = z.strictObject({
  assignee: actorSchema.nullable().meta({ description: 'The person who handles the order; `null`: nobody' }),
});

export const snoozeSchema = z.strictObject({
  until: z.iso
    .datetime({ offset: true, error: 'must be a time with its offset, such as 2030-01-31T12:00:00Z' })
    .transform((written) => instant(millis(written)))
    .meta({ description: 'A future time, at most the end of the cancel window' }),
  note: reasonSchema.meta({ description: "The reason; it is recorded in the order's journal" }),
});
