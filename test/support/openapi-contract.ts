/** Holds answers against an OpenAPI 3.1 document. */
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';

/** What the tests read of the document. */
export interface OpenApi {
  paths: Record<string, Record<string, Operation>>;
  components?: object;
}
interface Operation {
  responses: Record<
    string,
    { headers?: Record<string, { required?: boolean }>; content?: Record<string, { schema: object }> }
  >;
}

/** An answer as it came over HTTP. */
interface Answered {
  method: string;
  /** The address, with or without a query. */
  url: string;
  status: number;
  /** Names in lower case. */
  headers: Record<string, unknown>;
  body: string;
}

export type Contract = ReturnType<typeof createContract>;

const PROBLEM = 'application/problem+json';

/** Makes the check of one document. Its schemas are compiled when they are first needed. */
export function createContract(document: OpenApi) {
  const ajv = new Ajv2020({ allErrors: true, strictTypes: false });
  formats.default(ajv);
  // So that references into the document can be followed from each of its schemas.
  ajv.addVocabulary(['components']);
  const compiled = new Map<object, ValidateFunction>();
  const faultsOf = (schema: object, value: unknown): string[] => {
    const validate =
      compiled.get(schema) ?? ajv.compile({ ...schema, components: document.components ?? {} });
    compiled.set(schema, validate);
    if (validate(value)) return [];
    return (validate.errors ?? []).map(({ instancePath, message, params }) =>
      [instancePath || 'the body', message, JSON.stringify(params)].join(' '),
    );
  };
  const templates = Object.keys(document.paths).map((path) => ({
    path,
    pattern: new RegExp(`^${path.replaceAll(/\{\w+\}/g, '[^/]*')}$`),
  }));
  const find = ({ method, url }: Answered) => {
    const address = url.replace(/[?#].*$/s, '');
    const path = templates.find(({ pattern }) => pattern.test(address))?.path;
    return path === undefined ? undefined : document.paths[path]?.[method.toLowerCase()];
  };
  const problem = Object.values(document.paths)
    .flatMap((methods) => Object.values(methods))
    .flatMap(({ responses }) => Object.values(responses))
    .find(({ content }) => content?.[PROBLEM] !== undefined)?.content?.[PROBLEM]?.schema;
  const ownPlaces = [...new Set(templates.map(({ path }) => path.split('/').slice(0, 3).join('/')))];

  const faultsOfAnswer = (answered: Answered): string[] => {
    const { url, status, headers, body } = answered;
    const type = String(headers['content-type'] ?? '').replace(/;.*$/, '');
    const found = find(answered);
    if (found === undefined) {
      const own = ownPlaces.some((place) => url.startsWith(place));
      if (own && status !== 404 && status !== 400) return [`${status} for an address that is not documented`];
      if (type !== PROBLEM) return own ? [`${type} for an address that is not documented`] : [];
      // The answer to HEAD has no body.
      if (answered.method === 'HEAD') return [];
      return problem === undefined ? ['a problem, and none is documented'] : jsonFaults(problem, body);
    }
    const response = found.responses[status];
    if (response === undefined) return [`the status ${status} is not documented`];
    const schema = response.content?.[type]?.schema;
    if (schema === undefined) return [`the content type ${type} is not documented for ${status}`];
    const missing = Object.entries(response.headers ?? {})
      .filter(([name, { required }]) => required === true && headers[name.toLowerCase()] === undefined)
      .map(([name]) => `the header ${name} is missing`);
    return [...missing, ...jsonFaults(schema, body)];
  };
  const jsonFaults = (schema: object, body: string): string[] => {
    try {
      return faultsOf(schema, JSON.parse(body));
    } catch (error) {
      if (error instanceof SyntaxError) return ['the body is not JSON'];
      throw error;
    }
  };
  return {
    /** @throws Error naming the request and what its answer has against the document */
    check: (answered: Answered): void => {
      const faults = faultsOfAnswer(answered);
      if (faults.length === 0) return;
      const { method, url, status, body } = answered;
      const what = `${method} ${url} → ${status} is not as documented: ${faults.join('; ')}`;
      throw new Error(`${what}; the answer was ${body.slice(0, 500)}`);
    },
  };
}
