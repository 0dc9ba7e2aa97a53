// Errors with their words and stack traces in a payload, so that the payload codec encrypts them. Temporal's SDK loads this
// module by `require`, and bundles it with the workflows; neither knows TypeScript or an ES module here.
const { DefaultFailureConverter } = require('@temporalio/common');

exports.failureConverter = new DefaultFailureConverter({ encodeCommonAttributes: true });
