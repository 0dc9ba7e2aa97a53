// Puts messages and stack traces of errors in a payload, so that the payload codec encrypts them. Temporal's SDK loads this
// module with `require` and bundles it with the workflows. Neither supports TypeScript or ES modules here.
const { DefaultFailureConverter } = require('@temporalio/common');

exports.failureConverter = new DefaultFailureConverter({ encodeCommonAttributes: true });
