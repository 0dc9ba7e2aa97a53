import { randomBytes } from 'node:crypto';
import { defaultPayloadConverter, type Payload, type PayloadCodec } from '@temporalio/common';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createPayloadCodec } from '../../src/codec/index.ts';
import { createSealer } from '../../src/codec/sealer.ts';
import { whyUnread } from '../../src/orders/check-messages.ts';
import { property } from '../support/property.ts';

const old = { id: 'old', key: randomBytes(32) };
const fresh = { id: 'new', key: randomBytes(32) };

const aPayload = (value: unknown = { email: 'ada@example.com' }) => defaultPayloadConverter.toPayload(value);

const bytes = fc.uint8Array({ maxLength: 300 }).map((some) => Buffer.from(some));
const payloads = fc.array(
  fc.record({
    metadata: fc
      .dictionary(fc.string({ maxLength: 20 }), bytes, { maxKeys: 4 })
      .map((entries) => ({ ...entries })),
    data: bytes,
  }),
  { maxLength: 4 },
);

async function one(
  codec: PayloadCodec,
  action: 'encode' | 'decode',
  payload: Payload,
  workflowId?: string,
): Promise<Payload> {
  const context =
    workflowId === undefined ? undefined : { type: 'workflow' as const, namespace: 'any', workflowId };
  const [converted] = await codec[action]([payload], context);
  if (converted === undefined) throw new Error('a payload was lost');
  return converted;
}

describe('the payload codec', () => {
  property([payloads])('gives back what it was given, whatever that is', async (given) => {
    const codec = createPayloadCodec([fresh]);
    const encrypted = await codec.encode(given);
    expect(encrypted).toHaveLength(given.length);
    const back = await createPayloadCodec([fresh]).decode(encrypted);
    expect(back.map(plainBytes)).toEqual(given.map(plainBytes));
  });

  property([fc.string({ minLength: 4 })])('leaves nothing readable of it', async (words) => {
    const { metadata, data } = await one(createPayloadCodec([fresh]), 'encode', aPayload(words));
    expect(Buffer.from(data ?? []).includes(words)).toBe(false);
    expect(Object.keys(metadata ?? {}).sort()).toEqual(['encoding', 'encryption-key-id']);
    expect(String(metadata?.encoding)).toBe('binary/encrypted');
    expect(String(metadata?.['encryption-key-id'])).toBe('new');
  });

  it('leaves in plain that there is no value, which any worker reads, whatever its keys', async () => {
    const nothing = await one(
      createPayloadCodec([old]),
      'encode',
      defaultPayloadConverter.toPayload(undefined),
    );
    const read = await one(createPayloadCodec([fresh], { required: true }), 'decode', nothing);
    expect(defaultPayloadConverter.fromPayload(read)).toBeUndefined();
    const value = await one(createPayloadCodec([old]), 'encode', aPayload(null));
    await expect(one(createPayloadCodec([fresh]), 'decode', value)).rejects.toThrow(/key "old"/);
  });

  it('makes never the same bytes twice', async () => {
    const codec = createPayloadCodec([fresh]);
    const [first, second] = await codec.encode([aPayload(), aPayload()]);
    const nonce = (payload: Payload | undefined) => Buffer.from(payload?.data ?? []).subarray(0, 12);
    expect(nonce(first)).toHaveLength(12);
    expect(nonce(first)).not.toEqual(nonce(second));
    expect(first?.data).not.toEqual(second?.data);
  });

  it('lets payloads in plain pass through, so that orders from before it can be read', async () => {
    const plain = aPayload();
    expect(await one(createPayloadCodec([fresh]), 'decode', plain)).toBe(plain);
  });

  it('encrypts with the first key and decrypts with all', async () => {
    const before = await one(createPayloadCodec([old]), 'encode', aPayload(1));
    const announced = createPayloadCodec([old, fresh]);
    const rotated = createPayloadCodec([fresh, old]);
    const after = await one(rotated, 'encode', aPayload(2));
    expect(String(after.metadata?.['encryption-key-id'])).toBe('new');
    for (const codec of [announced, rotated]) {
      expect(defaultPayloadConverter.fromPayload(await one(codec, 'decode', before))).toBe(1);
      expect(defaultPayloadConverter.fromPayload(await one(codec, 'decode', after))).toBe(2);
    }
  });

  it('does nothing without keys', async () => {
    const plain = aPayload();
    const codec = createPayloadCodec([]);
    expect(await one(codec, 'encode', plain)).toBe(plain);
    expect(await one(codec, 'decode', plain)).toBe(plain);
  });
});

describe('a payload that cannot be decrypted', () => {
  const encrypted = () => one(createPayloadCodec([old]), 'encode', aPayload());

  it.each([
    ['another key', [fresh]],
    ['no key', []],
  ])('is refused by the id of its key by who has %s', async (_what, keys) => {
    const payload = await encrypted();
    await expect(one(createPayloadCodec(keys), 'decode', payload)).rejects.toMatchObject({
      name: 'PayloadCodecError',
      code: 'unknown-payload-key',
      keyId: 'old',
      message: 'A payload was encrypted with the key "old", which PAYLOAD_KEYS of this process lacks',
    });
  });

  it('is refused as damaged when another key has the id', async () => {
    const payload = await encrypted();
    const wrong = createPayloadCodec([{ ...fresh, id: 'old' }]);
    await expect(one(wrong, 'decode', payload)).rejects.toMatchObject({
      code: 'damaged-payload',
      keyId: 'old',
    });
  });

  property([fc.nat(), fc.integer({ min: 1, max: 255 })])(
    'is refused as damaged when any of its bytes was changed',
    async (at, by) => {
      const { metadata, data } = await encrypted();
      const changed = Buffer.from(data ?? []);
      const index = at % changed.length;
      changed[index] = (changed[index] ?? 0) ^ by;
      const payload = { ...(metadata && { metadata }), data: changed };
      await expect(one(createPayloadCodec([old]), 'decode', payload)).rejects.toMatchObject({
        code: 'damaged-payload',
      });
    },
  );

  property([fc.nat({ max: 28 })])('is refused as damaged when it was cut short', async (length) => {
    const { metadata, data } = await encrypted();
    const payload = { ...(metadata && { metadata }), data: Buffer.from(data ?? []).subarray(0, length) };
    await expect(one(createPayloadCodec([old]), 'decode', payload)).rejects.toMatchObject({
      code: 'damaged-payload',
    });
  });

  it('is refused when it was sealed for another place with the same key', async () => {
    const { nonce, tag, data } = createSealer(old).seal(
      Buffer.from('{}'),
      Buffer.from('["default","order-1"]'),
    );
    const payload = { ...(await encrypted()), data: Buffer.concat([nonce, tag, data]) };
    await expect(one(createPayloadCodec([old]), 'decode', payload)).rejects.toMatchObject({
      code: 'damaged-payload',
    });
  });

  it('names no id that is none of ours: those words are anybody’s', async () => {
    const metadata = {
      encoding: Buffer.from('binary/encrypted'),
      'encryption-key-id': Buffer.from('<script>'),
    };
    const refused = one(createPayloadCodec([old]), 'decode', { metadata, data: Buffer.alloc(40) });
    await expect(refused).rejects.toThrow(/a key without a valid id/);
    await expect(refused).rejects.not.toThrow(/script/);
  });
});

describe('a payload of a workflow', () => {
  const MINE = 'order:default:1001';
  const codec = createPayloadCodec([old]);
  const mine = () => one(codec, 'encode', aPayload(), MINE);
  const value = (payload: Payload) => defaultPayloadConverter.fromPayload(payload);

  it.each([
    ['that workflow', MINE],
    ['who is told of none, such as the codec endpoint', undefined],
  ])('is read by %s', async (_who, reader) => {
    expect(value(await one(codec, 'decode', await mine(), reader))).toEqual(value(aPayload()));
  });

  it('is refused in another one, thrown or marked, by a process without its key as well', async () => {
    const words = 'A payload encrypted with the key "old" belongs to another workflow';
    for (const keys of [[old], [fresh], []]) {
      const thrown = one(createPayloadCodec(keys), 'decode', await mine(), 'order:default:1002');
      await expect(thrown).rejects.toMatchObject({
        code: 'payload-of-another',
        keyId: 'old',
        message: words,
      });
      const marking = createPayloadCodec(keys, { refused: 'marked' });
      const marked = await one(marking, 'decode', await mine(), 'order:default:1002');
      expect(whyUnread(value(marked))).toBe(words);
    }
  });

  it.each([
    ['taken away', undefined],
    ['changed', Buffer.from('order:default:1002')],
  ])('is refused as damaged when the name of its workflow was %s', async (_how, name) => {
    const { metadata, data } = await mine();
    const { 'workflow-id': _own, ...others } = metadata ?? {};
    const changed = { metadata: { ...others, ...(name && { 'workflow-id': name }) }, ...(data && { data }) };
    const read = one(createPayloadCodec([old]), 'decode', changed, 'order:default:1002');
    await expect(read).rejects.toMatchObject({ code: 'damaged-payload' });
    const marking = createPayloadCodec([old], { refused: 'marked' });
    const marked = await one(marking, 'decode', changed, 'order:default:1002');
    expect(whyUnread(value(marked))).toMatch(/^A payload encrypted with the key "old" cannot be decrypted/);
  });

  it('of an unknown key is marked where refusals are, unless an activity was given or returned it', async () => {
    const marking = createPayloadCodec([fresh], { refused: 'marked' });
    const unknown = await mine();
    expect(whyUnread(value(await one(marking, 'decode', unknown, MINE)))).toBe(
      'A payload was encrypted with the key "old", which PAYLOAD_KEYS of this process lacks',
    );
    const activity = { type: 'activity' as const, namespace: 'any', workflowId: MINE, isLocal: false };
    await expect(marking.decode([unknown], activity)).rejects.toMatchObject({ code: 'unknown-payload-key' });
  });

  it('that names no workflow, as all did once and the codec endpoint writes, is read by each', async () => {
    const unbound = await one(codec, 'encode', aPayload());
    expect(value(await one(codec, 'decode', unbound, MINE))).toEqual(value(aPayload()));
  });
});

describe('where encryption is required, a payload in plain', () => {
  const nothing = defaultPayloadConverter.toPayload(undefined);

  it('is refused, thrown or marked, but for the one that stands for nothing', async () => {
    const thrown = one(createPayloadCodec([old], { required: true }), 'decode', aPayload());
    await expect(thrown).rejects.toMatchObject({
      code: 'plain-payload',
      message: expect.stringContaining('PAYLOADS_REQUIRED'),
    });
    const marking = createPayloadCodec([old], { required: true, refused: 'marked' });
    const marked = await one(marking, 'decode', aPayload());
    expect(whyUnread(defaultPayloadConverter.fromPayload(marked))).toMatch(/^A payload is not encrypted/);
    expect(JSON.stringify(plainBytes(marked))).not.toContain(Buffer.from('ada@').toString('hex'));
    expect(await one(marking, 'decode', nothing)).toBe(nothing);
  });
});

/** Compares Buffers and Uint8Arrays alike. */
function plainBytes({ metadata, data }: Payload) {
  const hex = (some: Uint8Array) => Buffer.from(some).toString('hex');
  const entries = Object.entries(metadata ?? {}).map(([name, value]) => [name, hex(value)]);
  return { metadata: Object.fromEntries(entries), data: hex(data ?? new Uint8Array()) };
}
