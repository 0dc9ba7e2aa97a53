import { Connection } from '@temporalio/client';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { loadConfig, loadTemporalSettings, type TemporalSettings } from '../../src/config/index.ts';
import { connectWorker } from '../../src/worker.ts';
import { eventually, listen } from '../support/index.ts';
import { faultsIn, least, scratchFile } from './support.ts';

describe('Temporal', () => {
  const settingsFile = scratchFile('temporal.toml');

  it.each(['temporal.example', 'temporal.example:7233', '192.0.2.1:1', '[::1]', '[::1]:7233'])(
    'has an address that the SDK accepts: %s',
    (address) => {
      const { connection } = loadTemporalSettings({ ...least, TEMPORAL_ADDRESS: address });
      expect(connection.address).toBe(address);
      expect(() => Connection.lazy(connection)).not.toThrow();
    },
  );

  it.each(['True', 'yes', 'on'])('is not reached without TLS because TEMPORAL_TLS is %j', (TEMPORAL_TLS) => {
    const load = () => loadTemporalSettings({ ...least, TEMPORAL_TLS, TEMPORAL_API_KEY: 'key' });
    expect(faultsIn(load)).toEqual({ TEMPORAL_TLS: 'must be "true" or "false"' });
  });

  it.each([
    ['127.0.0.1:7233', 0],
    ['[::1]', 0],
    ['localhost', 0],
    ['temporal.example:7233', undefined],
  ])('at %s is asked through a proxy only on another machine', (TEMPORAL_ADDRESS, proxy) => {
    const { connection } = loadTemporalSettings({ ...least, TEMPORAL_ADDRESS });
    expect(connection.channelArgs?.['grpc.enable_http_proxy']).toBe(proxy);
  });

  const connectClient = (settings: TemporalSettings) => {
    const connection = Connection.lazy(settings.connection);
    onTestFinished(() => connection.close());
    return connection.ensureConnected();
  };
  it.each([
    ['client', connectClient],
    ['worker', (settings: TemporalSettings) => connectWorker(settings)],
  ])(
    'on this machine is reached directly by a %s while the variables name a proxy',
    async (_who, connect) => {
      const greeted: string[] = [];
      const greetings = async (name: string) => {
        const port = await listen((socket) => {
          socket.once('data', (data) => {
            greeted.push(`${name}: ${String(data).split(' ')[0]}`);
            socket.destroy();
          });
          socket.on('error', () => undefined);
        });
        return `127.0.0.1:${port}`;
      };
      const proxy = `http://${await greetings('proxy')}`;
      onTestFinished(() => void vi.unstubAllEnvs());
      const lower = ['grpc_proxy', 'https_proxy', 'http_proxy'];
      for (const name of [...lower, 'HTTPS_PROXY', 'HTTP_PROXY', 'ALL_PROXY']) vi.stubEnv(name, proxy);
      const settings = loadTemporalSettings({ ...least, TEMPORAL_ADDRESS: await greetings('temporal') });
      connect(settings).catch(() => undefined);
      await eventually(() => expect(greeted).not.toEqual([]));
      // HTTP/2 begins with PRI; a proxy would get CONNECT.
      expect(new Set(greeted)).toEqual(new Set(['temporal: PRI']));
    },
  );

  it('is the embedded server unless an address is set, and so is its UI', () => {
    const embedded = loadConfig({ ...least, TEMPORAL_PORT: '17233', TEMPORAL_UI_PORT: '9233' });
    expect(embedded.temporal.connection.address).toBe('127.0.0.1:17233');
    expect(embedded.temporalUiUrl).toBe('http://127.0.0.1:9233');
    expect(loadConfig({ ...least, TEMPORAL_ADDRESS: 'temporal.example' }).temporalUiUrl).toBeUndefined();
  });

  it('is described by the settings file of every Temporal tool', () => {
    const TEMPORAL_CONFIG_FILE = settingsFile(
      '[profile.default]\naddress = "cloud.example:7233"\nnamespace = "shop.a1"\napi_key = "k"\n',
    );
    expect(loadTemporalSettings({ TEMPORAL_CONFIG_FILE })).toMatchObject({
      embedded: false,
      connection: { address: 'cloud.example:7233', apiKey: 'k', tls: true },
      namespace: 'shop.a1',
    });
  });

  it('has errors that do not quote that file', () => {
    const TEMPORAL_CONFIG_FILE = settingsFile('[profile.default]\napi_key = do-not-print-me\n');
    const load = () => loadTemporalSettings({ TEMPORAL_CONFIG_FILE });
    expect(load).toThrow(/TEMPORAL_\*/);
    expect(load).not.toThrow('do-not-print-me');
  });
});
