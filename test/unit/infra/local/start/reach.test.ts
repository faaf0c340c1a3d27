import { describe, expect, test } from 'vitest';
import {
  nearUrl,
  publicStorageUrl,
  reachWarnings,
  readReach,
} from '../../../../../infra/local/start/reach.ts';

const forOthers = { host: '0.0.0.0', 'public-url': 'http://box.example:3000' };

describe('the addresses of a service', () => {
  test('come from flags before variables, of which an empty one is none', () => {
    const variables = {
      LISTEN_HOST: '::',
      PUBLIC_URL: 'http://other.example',
      S3_PORT: '3001',
      PUBLIC_S3_URL: '',
    };

    expect(readReach(forOthers, variables)).toEqual({
      host: '0.0.0.0',
      publicUrl: new URL('http://box.example:3000'),
      s3Port: 3001,
      publicS3Url: undefined,
    });
  });

  test('of others are those that they reach: the port of the files at the same host, or a URL of their own', () => {
    expect(publicStorageUrl(readReach({}, {}), 'http://127.0.0.1:3001')).toBeUndefined();
    expect(publicStorageUrl(readReach(forOthers, {}), 'http://127.0.0.1:3001')).toBe(
      'http://box.example:3001',
    );
    const https = { 'public-url': 'https://box.example', 'public-s3-url': 'https://files.box.example' };
    expect(publicStorageUrl(readReach(https, {}), 'http://127.0.0.1:3001')).toBe('https://files.box.example');
  });

  test('of this machine are its own where the service listens on all', () => {
    expect(nearUrl('http://0.0.0.0:3000')).toBe('http://127.0.0.1:3000');
    expect(nearUrl('http://[::]:3000')).toBe('http://[::1]:3000');
    expect(nearUrl('http://192.0.2.1:3000')).toBe('http://192.0.2.1:3000');
  });

  test('that others reach without TLS come with a warning', () => {
    expect(reachWarnings(readReach(forOthers, {}))).toEqual([expect.stringContaining('not https')]);
    expect(reachWarnings(readReach({}, {}))).toEqual([]);
  });

  test.each([
    [{ host: '0.0.0.0' }, /--host 0\.0\.0\.0 needs --public-url/],
    [{ host: 'box.example' }, /--host must be an IP address/],
    [{ ...forOthers, 'public-url': 'box.example:3000' }, /--public-url must be an http or https URL/],
    [{ ...forOthers, 'public-url': 'http://box.example/mps' }, /without a path/],
    [{ 's3-port': '0' }, /--s3-port must be a number from 1 to 65535/],
    [{ 'public-s3-url': 'http://box.example:3001' }, /--public-s3-url needs --public-url/],
    [{ ...forOthers, 'public-url': 'https://box.example' }, /an https --public-url needs --public-s3-url/],
  ])('are refused where they cannot be right: %j', (flags, fault) => {
    expect(() => readReach(flags, {})).toThrow(fault);
  });

  test('are refused with all faults at once', () => {
    const refused = () => readReach({ host: 'x', 's3-port': 'y' }, { PUBLIC_URL: 'z' });

    expect(refused).toThrow(/--host.*\n.*--public-url|--public-url.*\n.*--host/s);
    expect(refused).toThrow(/--s3-port/);
  });
});
