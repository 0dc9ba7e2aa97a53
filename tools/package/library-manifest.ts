import { z } from 'zod';

const target = z.object({ types: z.string(), default: z.string() });

const manifestSchema = z.object({
  name: z.string(),
  version: z.string(),
  description: z.string().optional(),
  license: z.string().optional(),
  type: z.literal('module'),
  engines: z.record(z.string(), z.string()).optional(),
  exports: z.record(z.string(), z.union([z.string(), target])),
  files: z.array(z.string()),
  dependencies: z.record(z.string(), z.string()).default({}),
});

/** What package.json says of the package. */
type Manifest = z.infer<typeof manifestSchema>;

/** @throws ZodError that says which part isn't as it must be */
export function readManifest(text: string): Manifest {
  return manifestSchema.parse(JSON.parse(text));
}

/**
 * Makes the package.json that is packed: that of the project, less what only its programs need, so that who installs the
 * client library gets no worker. It stays private: it is handed on as a file, or to a registry of one's own on purpose.
 * @param used the packages that the build refers to
 * @throws Error when one of them isn't among the dependencies
 */
export function libraryManifest(project: Manifest, used: ReadonlySet<string>): object {
  const missing = [...used].filter((name) => project.dependencies[name] === undefined);
  if (missing.length > 0) {
    throw new Error(
      `package.json lacks, under dependencies, what the client library uses: ${missing.join(', ')}`,
    );
  }
  const all = Object.entries(project.dependencies).filter(([name]) => used.has(name));
  const { dependencies: _, ...same } = project;
  return {
    ...same,
    private: true,
    ...forOldCompilers(project.exports),
    dependencies: Object.fromEntries(all.filter(([name]) => !isTemporal(name))),
    // The caller makes the client, and Temporal wants one version of all its packages in a process: the caller's.
    peerDependencies: Object.fromEntries(
      all.filter(([name]) => isTemporal(name)).map(([name, version]) => [name, `^${version}`]),
    ),
  };
}

/** What TypeScript 5 reads in place of `exports` when a project is set up as CommonJS projects long were. */
function forOldCompilers(exports: Manifest['exports']): object {
  const targets = Object.entries(exports).flatMap(([name, to]) =>
    typeof to === 'string' ? [] : [{ name: name.replace(/^\.\/?/, ''), ...to }],
  );
  const main = targets.find(({ name }) => name === '');
  const others = targets.filter((one) => one !== main).map(({ name, types }) => [name, [types]]);
  return {
    ...(main && { main: main.default, types: main.types }),
    typesVersions: { '*': Object.fromEntries(others) },
  };
}

function isTemporal(name: string): boolean {
  return name.startsWith('@temporalio/');
}
