// For `node --import`: Node runs TypeScript natively from 22.18 on; older versions use tsx.
if (!process.features.typescript) {
  const { register } = await import('tsx/esm/api');
  register();
}
