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

/** The fields of package.json that are used. */
type Manifest = z.infer<typeof manifestSchema>;

/** @throws ZodError that names the invalid part */
export function readManifest(text: string): Manifest {
  return manifestSchema.parse(JSON.parse(text));
}

/**
 * Returns the package.json of the client library: the project's, without the dependencies that only its programs need. It
 * stays private, so that it is never published to a public registry by accident.
 * @param used the packages that the build imports
 * @throws Error if one of them isn't among the dependencies
 */
export function libraryManifest(project: Manifest, used: ReadonlySet<string>): object {
  const missing = [...used].filter((name) => project.dependencies[name] === undefined);
  if (missing.length > 0) {
    throw new Error(`package.json lacks dependencies of the client library: ${missing.join(', ')}`);
  }
  const all = Object.entries(project.dependencies).filter(([name]) => used.has(name));
  const { dependencies: _, ...same } = project;
  return {
    ...same,
    private: true,
    dependencies: Object.fromEntries(all.filter(([name]) => !isTemporal(name))),
    // The caller creates the Temporal client, and all Temporal packages in a process must have one version: the caller's.
    peerDependencies: Object.fromEntries(
      all.filter(([name]) => isTemporal(name)).map(([name, version]) => [name, `^${version}`]),
    ),
  };
}

function isTemporal(name: string): boolean {
  return name.startsWith('@temporalio/');
}
