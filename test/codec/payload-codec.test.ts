import { randomBytes } from 'node:crypto';
import { defaultPayloadConverter, type Payload } from '@temporalio/common';
import { loadDataConverter } from '@temporalio/common/lib/internal-non-workflow/index.js';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createDataConverter, createPayloadCodec } from '../../src/codec/index.ts';
import { createSealer } from '../../src/codec/sealer.ts';
import { whyUnread } from '../../src/order/messages/check-messages.ts';
import { property } from '../support/property.ts';

const old = { id: 'old', key: randomBytes(32) };
const fresh = { id: 'new', key: randomBytes(32) };
const MINE = 'order:default:1001';
const ANOTHER = 'order:default:1002';

const aPayload = (value: unknown = { email: 'ada@example.com' }) => defaultPayloadConverter.toPayload(value);
const contentOf = (payload: Payload) => defaultPayloadConverter.fromPayload(payload);

type Codec = ReturnType<typeof createPayloadCodec>;

async function one(codec: Codec, action: 'encode' | 'decode', payload: Payload, workflowId?: string) {
  const context =
    workflowId === undefined ? undefined : ({ type: 'workflow', namespace: 'any', workflowId } as const);
  const [converted] = await codec[action]([payload], context);
  if (converted === undefined) throw new Error('a payload was lost');
  return converted;
}

const withOld = createPayloadCodec([old]);
const encrypted = (value?: unknown, workflowId?: string) =>
  one(withOld, 'encode', aPayload(value), workflowId);
const markedBy = async (codec: Codec, payload: Payload, workflowId?: string) =>
  whyUnread(contentOf(await one(codec, 'decode', payload, workflowId)));

const bytes = fc.uint8Array({ maxLength: 300 }).map((some) => Buffer.from(some));
const metadata = fc
  .dictionary(fc.string({ maxLength: 20 }), bytes, { maxKeys: 4 })
  .map((entries) => ({ ...entries }));

describe('the payload codec', () => {
  property([fc.array(fc.record({ metadata, data: bytes }), { maxLength: 4 })])(
    'gives back what it was given, whatever that is',
    async (given) => {
      const sealed = await createPayloadCodec([fresh]).encode(given);
      const back = await createPayloadCodec([fresh]).decode(sealed);
      expect(back.map(plainBytes)).toEqual(given.map(plainBytes));
    },
  );

  property([fc.string({ minLength: 4 })])('leaves nothing readable of it', async (words) => {
    const { metadata, data } = await one(createPayloadCodec([fresh]), 'encode', aPayload(words));
    expect(Buffer.from(data ?? []).includes(words)).toBe(false);
    const shown = Object.entries(metadata ?? {}).map(([name, value]) => [name, String(value)]);
    expect(Object.fromEntries(shown)).toEqual({ encoding: 'binary/encrypted', 'encryption-key-id': 'new' });
  });

  it('makes never the same bytes twice', async () => {
    const sealed = await withOld.encode([aPayload(), aPayload()]);
    const [first, second] = sealed.map(({ data }) => Buffer.from(data ?? []));
    expect(first?.subarray(0, 12)).not.toEqual(second?.subarray(0, 12));
    expect(first).not.toEqual(second);
  });

  it('encrypts with the first key and decrypts with all; what is in plain passes through', async () => {
    const announced = createPayloadCodec([old, fresh]);
    const rotated = createPayloadCodec([fresh, old]);
    const after = await one(rotated, 'encode', aPayload(2));
    expect(String(after.metadata?.['encryption-key-id'])).toBe('new');
    const plain = aPayload();
    for (const codec of [announced, rotated]) {
      expect(contentOf(await one(codec, 'decode', await encrypted(1)))).toBe(1);
      expect(contentOf(await one(codec, 'decode', after))).toBe(2);
      expect(await one(codec, 'decode', plain)).toBe(plain);
    }
    const without = createPayloadCodec([]);
    expect(await one(without, 'encode', plain)).toBe(plain);
    expect(await one(without, 'decode', plain)).toBe(plain);
  });
});

describe('a payload that cannot be decrypted', () => {
  const damaged = { code: 'damaged-payload', keyId: 'old' };

  const LACKING = /with the key "old", which PAYLOAD_KEYS of this process lacks/;
  it.each([
    ['another key', [fresh], 'unknown-payload-key', LACKING],
    ['no key', [], 'unknown-payload-key', LACKING],
    ['another key of its id', [{ ...fresh, id: 'old' }], 'damaged-payload', /"old" cannot be decrypted/],
  ])('is refused by the id of its key by who has %s', async (_what, keys, code, words) => {
    const message = expect.stringMatching(words);
    const refused = { name: 'PayloadCodecError', code, keyId: 'old', message };
    await expect(one(createPayloadCodec(keys), 'decode', await encrypted())).rejects.toMatchObject(refused);
  });

  property([fc.nat(), fc.integer({ min: 1, max: 255 }), fc.nat({ max: 28 })])(
    'is refused as damaged when any of its bytes was changed, or it was cut short',
    async (at, by, length) => {
      const { metadata = {}, data } = await encrypted();
      const changed = Buffer.from(data ?? []);
      const index = at % changed.length;
      changed[index] = (changed[index] ?? 0) ^ by;
      for (const data of [changed, changed.subarray(0, length)])
        await expect(one(withOld, 'decode', { metadata, data })).rejects.toMatchObject(damaged);
    },
  );

  it('is refused when it was sealed for another place with the same key', async () => {
    const stashed = createSealer(old).seal(Buffer.from('{}'), Buffer.from('["default","order-1"]'));
    const data = Buffer.concat([stashed.nonce, stashed.tag, stashed.data]);
    await expect(one(withOld, 'decode', { ...(await encrypted()), data })).rejects.toMatchObject(damaged);
  });

  it('names no id that is none of ours: those words are anybody’s', async () => {
    const { metadata, data } = await encrypted();
    const named = { ...metadata, 'encryption-key-id': Buffer.from('<script>') };
    const refused = one(withOld, 'decode', { metadata: named, ...(data && { data }) });
    await expect(refused).rejects.toThrow(/^(?!.*script).*a key without a valid id/);
  });
});

describe('a payload of a workflow', () => {
  const marking = (...keys: (typeof old)[]) => createPayloadCodec(keys, { refused: 'marked' });

  it.each([
    ['that workflow', MINE, MINE],
    ['who is told of none, such as the codec endpoint', MINE, undefined],
    ['each, when it names none, as all did once', undefined, MINE],
  ])('is read by %s', async (_who, writer, reader) => {
    const read = await one(withOld, 'decode', await encrypted('x', writer), reader);
    expect(contentOf(read)).toBe('x');
  });

  it('is refused in another one, thrown or marked, by a process without its key as well', async () => {
    const message = 'A payload encrypted with the key "old" belongs to another workflow';
    const mine = await encrypted('x', MINE);
    for (const keys of [[old], [fresh], []]) {
      const thrown = one(createPayloadCodec(keys), 'decode', mine, ANOTHER);
      await expect(thrown).rejects.toMatchObject({ code: 'payload-of-another', keyId: 'old', message });
      expect(await markedBy(marking(...keys), mine, ANOTHER)).toBe(message);
    }
  });

  it.each([
    ['taken away', {}],
    ['changed', { 'workflow-id': Buffer.from(ANOTHER) }],
  ])('is refused as damaged when the name of its workflow was %s', async (_how, name) => {
    const { metadata, data } = await encrypted('x', MINE);
    const { 'workflow-id': _own, ...others } = metadata ?? {};
    const changed = { metadata: { ...others, ...name }, ...(data && { data }) };
    await expect(one(withOld, 'decode', changed, ANOTHER)).rejects.toMatchObject({ code: 'damaged-payload' });
    expect(await markedBy(marking(old), changed, ANOTHER)).toMatch(/key "old" cannot be decrypted/);
  });

  it('of an unknown key is marked where refusals are, unless an activity was given or returned it', async () => {
    const unknown = await encrypted('x', MINE);
    expect(await markedBy(marking(fresh), unknown, MINE)).toContain('PAYLOAD_KEYS of this process lacks');
    const activity = { type: 'activity', namespace: 'any', workflowId: MINE, isLocal: false } as const;
    const given = marking(fresh).decode([unknown], activity);
    await expect(given).rejects.toMatchObject({ code: 'unknown-payload-key' });
  });
});

it('where encryption is required, a payload in plain is refused, thrown or marked', async () => {
  const thrown = one(createPayloadCodec([old], { required: true }), 'decode', aPayload());
  const message = expect.stringContaining('PAYLOADS_REQUIRED');
  await expect(thrown).rejects.toMatchObject({ code: 'plain-payload', message });
  const marking = createPayloadCodec([old], { required: true, refused: 'marked' });
  expect(await markedBy(marking, aPayload())).toMatch(/^A payload is not encrypted(?!.*ada@)/);
});

it('a payload that stands for nothing stays in plain, and any worker reads it, whatever its keys', async () => {
  const nothing = defaultPayloadConverter.toPayload(undefined);
  expect(await one(withOld, 'encode', nothing)).toBe(nothing);
  const marking = createPayloadCodec([fresh], { required: true, refused: 'marked' });
  expect(await one(marking, 'decode', nothing)).toBe(nothing);
});

const { payloadConverter } = loadDataConverter(createDataConverter([]));
const CANNOT_READ = 'which order-screening cannot read: send json/plain';
const payloadOf = (encoding: string, data: string) => ({
  metadata: { encoding: Buffer.from(encoding) },
  data: Buffer.from(data),
});

it.each([
  [payloadOf('json/plain', '{"a'), 'A payload is not valid JSON'],
  [payloadOf('json/protobuf', '{}'), `A payload has the encoding "json/protobuf", ${CANNOT_READ}`],
  [payloadOf('<b>mine</b>', '{}'), `A payload has the encoding, ${CANNOT_READ}`],
  [{ data: Buffer.from('{}') }, 'A payload names no encoding'],
  [{ metadata: {} }, 'A payload names no encoding'],
])('an unreadable payload becomes a marked value that says why', (unreadable, why) => {
  expect(whyUnread(payloadConverter.fromPayload(unreadable))).toBe(why);
});

property([fc.jsonValue()])('any other payload is read and written as the SDK does', async (value) => {
  const written = payloadConverter.toPayload(value);
  expect(written).toEqual(defaultPayloadConverter.toPayload(value));
  expect(payloadConverter.fromPayload(written)).toEqual(defaultPayloadConverter.fromPayload(written));
});

const named = fc.dictionary(fc.constantFrom('encoding', 'other'), bytes);
property([fc.record({ metadata: named, data: bytes })])('no payload throws', async (any) => {
  payloadConverter.fromPayload(any);
});

/** Compares Buffers and Uint8Arrays alike. */
function plainBytes({ metadata, data }: Payload) {
  const hex = (some: Uint8Array) => Buffer.from(some).toString('hex');
  const entries = Object.entries(metadata ?? {}).map(([name, value]) => [name, hex(value)]);
  return { metadata: Object.fromEntries(entries), data: hex(data ?? new Uint8Array()) };
}
