import { isIP } from 'node:net';
import { CommandError } from '../../command/command-error.ts';

/** Addresses where the service listens, and by which others reach it. */
export interface Reach {
  /** Listen address of the service and of the S3 server. */
  host: string;
  /** URL of the service for others; undefined if it is for this machine alone. */
  publicUrl: URL | undefined;
  /** Port of the S3 server; undefined for the one of the last start, or any. */
  s3Port: number | undefined;
  /** URL of the S3 server for others. Default: the host of `publicUrl` and the server's port. */
  publicS3Url: URL | undefined;
}

/** Flags and the variables that replace them. */
export const reachFlags = {
  host: 'LISTEN_HOST',
  'public-url': 'PUBLIC_URL',
  's3-port': 'S3_PORT',
  'public-s3-url': 'PUBLIC_S3_URL',
} as const;

export const reachUsage = `  --host  address on which the service and its files are served (default 127.0.0.1, or ${reachFlags.host})
  --public-url  URL by which others reach the service (or ${reachFlags['public-url']}); needed with any other --host
  --s3-port  port of the server of files (or ${reachFlags['s3-port']}; by default that of the last start)
  --public-s3-url  URL by which others reach the files (or ${reachFlags['public-s3-url']}; by default the host of --public-url
        with the port of the files); needed with an https URL`;

type Given = Readonly<Partial<Record<keyof typeof reachFlags, string>>>;

/** Flags override variables. An empty variable counts as missing. @throws CommandError naming everything wrong */
export function readReach(flags: Given, environment: Readonly<Record<string, string | undefined>>): Reach {
  const faults: string[] = [];
  const given = (name: keyof typeof reachFlags): string | undefined =>
    flags[name] ?? (environment[reachFlags[name]] || undefined);
  const url = (name: 'public-url' | 'public-s3-url'): URL | undefined => {
    const text = given(name);
    if (text === undefined) return undefined;
    const parsed = URL.parse(text);
    const isOrigin =
      parsed !== null && /^https?:$/.test(parsed.protocol) && `${parsed.origin}/` === parsed.href;
    if (isOrigin) return parsed;
    faults.push(`--${name} must be an http or https URL without a path, not "${text}"`);
    return undefined;
  };
  const host = given('host') ?? '127.0.0.1';
  if (isIP(host) === 0) faults.push(`--host must be an IP address such as 0.0.0.0, not "${host}"`);
  const s3Port = given('s3-port');
  if (s3Port !== undefined && !isPort(s3Port)) {
    faults.push(`--s3-port must be a number from 1 to 65535, not "${s3Port}"`);
  }
  const [publicUrl, publicS3Url] = [url('public-url'), url('public-s3-url')];
  if (given('public-url') === undefined) {
    if (!isLoopback(host)) {
      faults.push(`--host ${host} needs --public-url, by which others reach the service: http://<name>:3000`);
    }
    if (publicS3Url !== undefined) faults.push('--public-s3-url needs --public-url');
  }
  if (publicUrl?.protocol === 'https:' && given('public-s3-url') === undefined) {
    faults.push('an https --public-url needs --public-s3-url, because the files have a port of their own');
  }
  if (faults.length > 0) throw new CommandError(`${faults.join('.\n')}.`);
  return { host, publicUrl, s3Port: s3Port === undefined ? undefined : Number(s3Port), publicS3Url };
}

const isPort = (text: string): boolean =>
  /^\d{1,5}$/.test(text) && Number(text) >= 1 && Number(text) <= 65_535;

const isLoopback = (host: string): boolean => host === '::1' || host.startsWith('127.');

/** Return the URL by which this machine reaches a server of its own: an address of all networks is none to call. */
export function nearUrl(url: string): string {
  const near = new URL(url);
  if (near.hostname === '0.0.0.0') near.hostname = '127.0.0.1';
  if (near.hostname === '[::]') near.hostname = '[::1]';
  return near.origin;
}

/** Return the URL of the S3 server in presigned URLs; undefined if it is that of this machine. */
export function publicStorageUrl({ publicUrl, publicS3Url }: Reach, s3Url: string): string | undefined {
  if (publicUrl === undefined || publicS3Url !== undefined) return publicS3Url?.origin;
  return `http://${publicUrl.hostname}:${new URL(s3Url).port}`;
}

/** Return sentences for people about what others can see. */
export function reachWarnings({ host, publicUrl }: Reach): string[] {
  if (isLoopback(host) || publicUrl?.protocol === 'https:') return [];
  return [
    `Passwords and data pass the network as they are, because ${publicUrl?.origin ?? host} is not https. Let nobody else reach it, or put a proxy with TLS before it.`,
  ];
}
