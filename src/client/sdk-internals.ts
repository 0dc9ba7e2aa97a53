/**
 * What is used of the SDK’s inside. In the workflow sandbox nothing of it is used or replaced.
 *
 * None of these saves time: each saves a second writing of how the SDK encodes, which could come to differ from it.
 *
 * Times need nothing of it: `msOf` in src/client/describe-order.ts.
 *
 * When the SDK changes, a path that is gone fails the type check and test/client/sdk-internals.test.ts, each by its own name, and a
 * function that does something else fails the test by what it decodes.
 */
import { rethrowKnownErrorTypes as knownErrorTypes } from '@temporalio/client/lib/helpers.js';
import { decodeTypedSearchAttributes as typedSearchAttributes } from '@temporalio/common/lib/converter/payload-search-attributes.js';
import { decodeArrayFromPayloads as arrayFromPayloads } from '@temporalio/common/lib/internal-non-workflow/codec-helpers.js';

/**
 * Reads search attributes as a list of orders has them. The SDK decodes them in its own list, which tells no cursor to go on from.
 *
 * Without it: a decoder for each of the types of search attributes.
 */
export const decodeTypedSearchAttributes = typedSearchAttributes;

/**
 * Reads an order's argument from its history, which the SDK gives as it is kept, encrypted or not.
 *
 * Without it: the codecs of the data converter, called one after the other, and its storage of large payloads.
 */
export const decodeArrayFromPayloads = arrayFromPayloads;

/**
 * Throws what the SDK throws for an error of a raw call that says more than its code, such as a namespace that isn't there.
 *
 * Without it: a decoder of gRPC's error details.
 */
export const rethrowKnownErrorTypes = knownErrorTypes;
