import { describe, expect, test } from 'vitest';
import { isPublic, receiverAddress, urlFault } from '../../../shared/outgoing/receiver-address.ts';

const publicAddress = { address: '93.184.216.34', family: 4 };
const resolving =
  (...addresses: readonly { address: string; family: number }[]) =>
  async () =>
    addresses;
const reach = (url: string, resolve = resolving(publicAddress), admitted: readonly string[] = []) =>
  receiverAddress(new URL(url), admitted, resolve);

describe('a URL is refused', () => {
  test.each([
    ['loopback', 'https://127.0.0.1/'],
    ['loopback by name', 'https://localhost/'],
    ['loopback by name, with its root', 'https://LocalHost./'],
    ['a name below loopback', 'https://a.localhost/'],
    ['a name of the network', 'https://printer.local/'],
    ['a name of a cloud', 'https://metadata.google.internal/'],
    ['a name of a home', 'https://nas.home.arpa/'],
    ['a name without a domain', 'https://intranet/'],
    ['loopback, short', 'https://127.1/'],
    ['loopback, decimal', 'https://2130706433/'],
    ['loopback, hexadecimal', 'https://0x7f000001/'],
    ['loopback, octal', 'https://0177.0.0.1/'],
    ['loopback, mixed', 'https://0x7f.1/'],
    ['loopback, full width', 'https://１２７.０.０.１/'],
    ['loopback, circled', 'https://①②⑦.⓪.⓪.①/'],
    ['loopback, percent-encoded', 'https://%31%32%37.0.0.1/'],
    ['this host', 'https://0.0.0.0/'],
    ['this host, zero', 'https://0/'],
    ['private, 10', 'https://10.0.0.1/'],
    ['private, 172', 'https://172.31.255.254/'],
    ['private, 192', 'https://192.168.1.1/'],
    ['carrier-grade NAT, metadata of Alibaba', 'https://100.100.100.200/'],
    ['metadata', 'https://169.254.169.254/latest/meta-data/'],
    ['metadata, decimal', 'https://2852039166/'],
    ['metadata, octal', 'https://0251.0376.0251.0376/'],
    ['metadata of containers', 'https://169.254.170.2/v2/credentials'],
    ['multicast', 'https://224.0.0.1/'],
    ['broadcast', 'https://255.255.255.255/'],
    ['benchmarks', 'https://198.18.0.1/'],
    ['documentation', 'https://192.0.2.1/'],
    ['metadata of Oracle', 'https://192.0.0.192/'],
    ['IPv6 loopback', 'https://[::1]/'],
    ['IPv6 unspecified', 'https://[::]/'],
    ['IPv4-mapped', 'https://[::ffff:127.0.0.1]/'],
    ['IPv4-mapped, hexadecimal', 'https://[::ffff:a9fe:a9fe]/'],
    ['IPv4-compatible', 'https://[::127.0.0.1]/'],
    ['NAT64', 'https://[64:ff9b::a9fe:a9fe]/'],
    ['local NAT64', 'https://[64:ff9b:1::a9fe:a9fe]/'],
    ['6to4', 'https://[2002:7f00:1::]/'],
    ['Teredo', 'https://[2001:0:7f00:1::]/'],
    ['link-local', 'https://[fe80::1]/'],
    ['unique local, metadata', 'https://[fd00:ec2::254]/'],
    ['site-local', 'https://[fec0::1]/'],
    ['user and password', 'https://ada:secret@example.org/'],
    ['user that looks like a host', 'https://example.org@127.0.0.1/'],
    ['http', 'http://example.org/'],
    ['file', 'file:///etc/passwd'],
    ['gopher', 'gopher://127.0.0.1:6379/_FLUSHALL'],
    ['not a URL', '//example.org'],
  ])('%s', (_, url) => {
    expect(urlFault(url, [])).toBeDefined();
  });
});

test.each([
  'https://hooks.slack.com/services/T/B/x',
  'https://example.org:8443/path?token=x',
  'https://[2606:4700:4700::1111]/',
  'https://1.1.1.1/',
])('%s is taken', async (url) => {
  expect(urlFault(url, [])).toBeUndefined();
  const literal = /\d\/$|\]\/$/.test(url);
  const reached = await reach(url);
  expect(reached.address).toBe(literal ? new URL(url).hostname.replace(/[[\]]/g, '') : publicAddress.address);
});

test.each(['127.0.0.1', '10.1.2.3', '169.254.169.254', '::1', '::ffff:10.0.0.1', 'fe80::1%eth0', 'nonsense'])(
  'a name is refused that resolves to %s, also beside a public address',
  async (address) => {
    const family = address.includes(':') ? 6 : 4;
    const [alone, beside] = [resolving({ address, family }), resolving(publicAddress, { address, family })];

    await expect(reach('https://rebound.example/', alone)).rejects.toThrow('which is not public');
    await expect(reach('https://rebound.example/', beside)).rejects.toThrow('which is not public');
  },
);

test('a name without an address is named, without the URL', async () => {
  const failing = () => Promise.reject(new Error('ENOTFOUND'));
  await expect(reach('https://nowhere.example/secret', failing)).rejects.toThrow(
    /^The name nowhere.example cannot be resolved.$/,
  );
  await expect(reach('https://nowhere.example/secret', resolving())).rejects.toThrow('has no address');
});

test('a receiver of this machine is admitted by its host and port alone', async () => {
  const admitted = ['127.0.0.1:9000', 'hooks.lan:80'];

  expect((await reach('http://127.0.0.1:9000/x', undefined, admitted)).address).toBe('127.0.0.1');
  const lan = { address: '192.168.0.9', family: 4 };
  expect(await reach('http://hooks.lan/x', resolving(lan), admitted)).toEqual(lan);
  for (const url of ['http://127.0.0.1:9001/', 'http://127.0.0.1/', 'https://hooks.lan/'])
    await expect(reach(url, resolving(lan), admitted)).rejects.toThrow();
});

test('only addresses of the public internet are public', () => {
  const answers = ['8.8.8.8', '2a00:1450:4001::1', '127.0.0.1', '2001:db8::1', 'ff02::1'].map(isPublic);
  expect(answers).toEqual([true, true, false, false, false]);
});
