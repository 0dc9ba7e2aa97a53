// Reads payloads as the SDK does, and turns one that it cannot read into a marked value, which an order refuses like any other wrong
// message. Thrown in a workflow, the error would fail its task again and again. Temporal's SDK loads this module by `require`, and bundles
// it with the workflows; neither knows TypeScript or an ES module here.
const { defaultPayloadConverter } = require('@temporalio/common');

/** The same words as REFUSED_PAYLOAD in src/contract/words.ts; a test compares them. */
const MARK = 'order-screening refused a payload: ';

/** Says why, without any word of the content. An encoding is the sender's own word, so that only a plain one is repeated. */
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
