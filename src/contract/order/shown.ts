/** The fields of an order's own transaction that a policy can show to people. */
import { z } from 'zod';

const text = z.string().exactOptional();
const address = z
  .object({
    firstName: text,
    lastName: text,
    company: text,
    address: text,
    city: text,
    state: text,
    zip: text,
    country: text,
    phoneNumber: text,
  })
  .exactOptional();
/** No other field of a transaction is shown. */
export const shownSchema = z
  .object({
    attempt: z.int().meta({ description: 'The attempt that the fields are of' }),
    name: text,
    email: text,
    billTo: address,
    shipTo: address,
    avs: text,
    cvv: text,
    items: z
      .array(
        z.object({
          name: text,
          sku: text,
          category: text,
          price: z.number().exactOptional(),
          quantity: z.number().exactOptional(),
        }),
      )
      .exactOptional(),
  })
  .meta({ description: 'With `view=full`: the fields of the transaction that the policy key `shown` names' });
export type Shown = z.infer<typeof shownSchema>;
