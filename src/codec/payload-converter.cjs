// Reads payloads as the SDK does, but converts an unreadable payload to a marked value, which an order refuses like any other invalid
// message. In a workflow an error would fail the workflow task repeatedly. Temporal's SDK loads this module with `require` and bundles it
// with the workflows. Neither supports TypeScript or ES modules here.
const { defaultPayloadConverter } = require('@temporalio/common');

/** Must equal REFUSED_PAYLOAD in src/contract/words.ts. A test compares them. */
const MARK = 'order-screening refused a payload: ';

/** Returns the reason without any payload content. The encoding is untrusted, so only a short, simple one is included. */
function why({ metadata }) {
  const bytes = metadata?.encoding;
  if (bytes === undefined || bytes === null) return 'A payload names no encoding';
  const encoding = String.fromCharCode(...bytes.slice(0, 100));
  if (encoding === 'json/plain') return 'A payload is not valid JSON';
  const named = /^[\w/.+-]{1,40}$/.test(encoding) ? ` "${encoding}"` : '';
  return `A payload has the encoding${named}, which order-screening cannot read: send json/plain`;
}

exports.payloadConverter = {
  toPayload: (...args) => defaultPayloadConverter.toPayload(...args),
  fromPayload: (payload, ...context) => {
    try {
      return defaultPayloadConverter.fromPayload(payload, ...context);
    } catch {
      return `${MARK}${why(payload ?? {})}`;
    }
  },
};
