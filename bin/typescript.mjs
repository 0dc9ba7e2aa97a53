// `node --import` this: Node reads TypeScript by itself from 22.18 on, and tsx does it before.
if (!process.features.typescript) {
  const { register } = await import('tsx/esm/api');
  register();
}
